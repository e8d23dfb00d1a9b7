#include "lab/data/corpus.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/error.hpp"
#include "lab/data/header_corpus.hpp"
#include "lab/data/token_files.hpp"

namespace bcos::lab::data {
namespace {

constexpr std::string_view kWhere = "text";
constexpr std::array<std::string_view, 6> kFormats = {"auto",  "bytes", "ascii",
                                                      "chars", "bpe",   "tokens"};

struct Texts {
  std::string train;
  std::string val;
  std::string described;
  std::vector<FileFact> files;
};

void check(const TextOptions& options) {
  if (std::find(kFormats.begin(), kFormats.end(), options.format) == kFormats.end()) {
    throw fail(kWhere, "expected format auto, bytes, ascii, chars, bpe or tokens but received '{}'",
               options.format);
  }
  if (options.data.empty())
    throw fail(kWhere, "expected the name of a data file but received none");
  if (!(options.val_fraction > 0 && options.val_fraction < 1)) {
    throw fail(kWhere, "expected val_fraction between 0 and 1 but received {}",
               options.val_fraction);
  }
  if (options.format == "bpe" && options.bpe.empty()) {
    throw fail(
        kWhere,
        "expected the folder with encoder.json and vocab.bpe for format bpe but received none: "
        "--bpe FOLDER");
  }
}

std::string format_of(const TextOptions& options) {
  if (options.format != "auto") return options.format;
  if (options.data == "headers") return options.bpe.empty() ? "ascii" : "bpe";
  const bool tokens = options.data.find_first_of("*?[") != std::string::npos ||
                      is_folder(options.data) || options.data.ends_with(".bin") ||
                      has_token_mark(DataFile(options.data).beginning(4));
  if (tokens) return "tokens";
  return options.bpe.empty() ? "bytes" : "bpe";
}

/// How many of `size` are for training; both parts get something, or there is nothing to split.
std::uint64_t training_part(std::uint64_t size, double val_fraction, const std::string& name) {
  const auto part = static_cast<std::uint64_t>(static_cast<double>(size) * (1 - val_fraction));
  if (part == 0 || part >= size) {
    throw fail(ErrorCode::mismatch, kWhere,
               "expected enough of '{}' to split for training and validation but received {}", name,
               size);
  }
  return part;
}

std::string read_text_file(const std::string& path, std::vector<FileFact>& files) {
  const DataFile file(path);
  if (const std::string_view packing = packing_of(file.beginning(8)); !packing.empty()) {
    throw fail(ErrorCode::mismatch, kWhere,
               "expected text in '{}' but received a file packed by {}; unpack it first", path,
               packing);
  }
  std::string text = file.text(kLargestWhole);
  files.push_back(fact_of(path, text));
  return text;
}

Texts read_texts(const TextOptions& options, bool characters) {
  Texts texts;
  if (options.data == "headers" && options.val.empty()) {
    HeaderCorpus corpus = read_headers(header_folder());
    texts = {std::move(corpus.train),
             std::move(corpus.val),
             fmt::format("C++ headers in {} ({} files)", corpus.folder, corpus.files),
             {}};
    FileFact fact = fact_of(corpus.folder, texts.train + texts.val);
    texts.files.push_back(std::move(fact));
    return texts;
  }
  if (options.data == "headers") {
    throw fail(kWhere, "expected no validation file with the headers but received '{}'",
               options.val);
  }
  texts.train = read_text_file(options.data, texts.files);
  texts.described = options.data;
  if (!options.val.empty()) {
    texts.val = read_text_file(options.val, texts.files);
    return texts;
  }
  std::uint64_t split = training_part(texts.train.size(), options.val_fraction, options.data);
  // Not through the middle of a character.
  const auto is_continued = [&](std::uint64_t at) {
    return (static_cast<unsigned char>(texts.train[at]) & 0xc0) == 0x80;
  };
  for (int i = 0; characters && i < 3 && split > 1 && is_continued(split); ++i) --split;
  texts.val = texts.train.substr(split);
  texts.train.resize(split);
  return texts;
}

std::unique_ptr<Tokens> encoded(const Vocabulary& vocabulary, const std::string& text) {
  if (vocabulary.kind() != Vocabulary::Kind::bytes &&
      vocabulary.kind() != Vocabulary::Kind::ascii) {
    return tokens_in_memory(vocabulary.encode(text));
  }
  std::vector<std::uint8_t> ids(text.begin(), text.end());
  if (vocabulary.kind() == Vocabulary::Kind::ascii) {
    std::transform(ids.begin(), ids.end(), ids.begin(), as_ascii);
  }
  return tokens_in_memory(std::move(ids));
}

TextData open_plain(const TextOptions& options, const std::string& format) {
  Texts texts = read_texts(options, format == "chars" || format == "bpe");
  TextData data;
  data.files = std::move(texts.files);
  try {
    if (format == "ascii") {
      data.vocabulary = Vocabulary::ascii();
    } else if (format == "chars") {
      const std::array<std::string_view, 2> both = {texts.train, texts.val};
      data.vocabulary = Vocabulary::characters(both);
    } else if (format == "bpe") {
      data.vocabulary = Vocabulary::bpe(Bpe::open(options.bpe, &data.files));
    }
    data.train = encoded(data.vocabulary, texts.train);
    data.val = encoded(data.vocabulary, texts.val);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{} (reading '{}')", error.what(), options.data));
  }
  data.described = texts.described;
  return data;
}

struct TokenPaths {
  std::vector<std::string> train;
  std::vector<std::string> val;  ///< empty: split the others
};

TokenPaths token_paths(const TextOptions& options) {
  if (is_folder(options.data)) {
    const std::string train = options.data + "/train.bin";
    const std::string val = options.data + "/val.bin";
    if (!path_exists(train) || !path_exists(val)) {
      throw fail(ErrorCode::io, kWhere, "expected train.bin and val.bin in the folder '{}'",
                 options.data);
    }
    return {{train}, {val}};
  }
  TokenPaths paths{matching_files(options.data), {}};
  if (!options.val.empty()) paths.val = matching_files(options.val);
  return paths;
}

TextData open_token_files(const TextOptions& options) {
  const TokenPaths paths = token_paths(options);
  OpenedTokens train = open_tokens(paths.train, options.vocab_size);
  TextData data;
  const std::uint64_t size =
      options.vocab_size > 0 ? options.vocab_size : usual_vocabulary(train.format);
  data.vocabulary = Vocabulary::tokens(size);
  data.described = fmt::format("{} ({}, {} file{})", options.data, name_of(train.format),
                               paths.train.size(), paths.train.size() == 1 ? "" : "s");
  data.files = std::move(train.files);
  if (paths.val.empty()) {
    const std::uint64_t all = train.tokens->size();
    const std::uint64_t split = training_part(all, options.val_fraction, options.data);
    const std::shared_ptr<const Tokens> shared = std::move(train.tokens);
    data.train = part_of(shared, 0, split);
    data.val = part_of(shared, split, all - split);
    return data;
  }
  OpenedTokens val = open_tokens(paths.val, size);
  data.train = std::move(train.tokens);
  data.val = std::move(val.tokens);
  data.files.insert(data.files.end(), val.files.begin(), val.files.end());
  return data;
}

}  // namespace

TextData open_text(const TextOptions& options) {
  check(options);
  const std::string format = format_of(options);
  TextData data = format == "tokens" ? open_token_files(options) : open_plain(options, format);
  if (data.train->size() == 0 || data.val->size() == 0) {
    throw fail(ErrorCode::mismatch, kWhere,
               "expected tokens for training and validation in '{}' but received {} and {}",
               options.data, data.train->size(), data.val->size());
  }
  data.described += fmt::format(": {} + {} tokens, vocabulary {} ({})", data.train->size(),
                                data.val->size(), data.vocabulary.size(), data.vocabulary.name());
  return data;
}

}  // namespace bcos::lab::data
