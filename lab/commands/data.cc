#include <memory>

#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/table.hpp"
#include "lab/cli/usage.hpp"
#include "lab/commands/commands.hpp"
#include "lab/data/data_file.hpp"
#include "lab/data/describe.hpp"
#include "lab/data/token_writer.hpp"
#include "lab/data/vocabulary.hpp"

namespace bcos::lab::commands {
namespace {

struct Options {
  std::string what;
  std::string file;
  std::string bpe;
  std::string out;
  std::optional<double> val_fraction;
  std::optional<std::uint64_t> shard_tokens;
};

/// Where a part of this size ends, moved back to the beginning of a UTF-8 character.
std::size_t cut_of(std::string_view text, double fraction) {
  auto at = static_cast<std::size_t>(fraction * static_cast<double>(text.size()));
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U)
    --at;
  return at;
}

void write_tokens(const data::Vocabulary& vocabulary, std::string_view text,
                  const std::string& path, std::uint64_t shard_tokens) {
  data::TokenWriter writer(path, shard_tokens);
  writer.append(vocabulary.encode(text));
  writer.finish();
  for (const std::string& shard : writer.paths()) cli::print("wrote {}\n", shard);
  cli::print("{} tokens\n", writer.tokens());
}

void tokenize(const Options& options) {
  if (options.bpe.empty()) {
    throw cli::misuse(
        "data", "expected --bpe FOLDER with GPT-2's encoder.json and vocab.bpe but received none");
  }
  const double held_out = options.val_fraction.value_or(0.1);
  if (!(held_out >= 0 && held_out < 1)) {
    throw cli::misuse("data", "expected --val-fraction in [0, 1) but received {}", held_out);
  }
  const data::Vocabulary vocabulary = data::Vocabulary::bpe(data::Bpe::open(options.bpe));
  const std::string text = data::DataFile(options.file).text(data::kLargestWhole);
  const std::string_view all = text;
  const std::size_t cut = cut_of(all, 1 - held_out);
  const std::string prefix = options.out.empty() ? options.file : options.out;
  const std::uint64_t shard = options.shard_tokens.value_or(0);
  write_tokens(vocabulary, all.substr(0, cut), prefix + "_train.bin", shard);
  if (cut < all.size()) write_tokens(vocabulary, all.substr(cut), prefix + "_val.bin", 0);
}

void describe(const std::string& path) {
  const data::FileDescription description = data::describe_file(path);
  cli::Table table({{"format"}, {description.format}});
  for (const auto& [name, value] : description.facts) table.add({name, cli::visible(value)});
  cli::write_out(table.text());
}

void run(const Options& options) {
  if (options.what == "info") return describe(options.file);
  tokenize(options);
}

}  // namespace

void add_data(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& app =
      program.add("data", "Look at data files; turn text into token shards",
                  {"bcos data info train.bin", "bcos data info /usr/share/datasets/fashion-mnist",
                   "bcos data tokenize input.txt --bpe gpt2 --out shakespeare"},
                  [options] { run(*options); });
  cli::add_choice(app, "what", options->what, {"info", "tokenize"},
                  "info: what a file or folder holds; tokenize: text to llm.c shards, GPT-2 BPE")
      ->required();
  cli::add_text(app, "FILE", "", options->file, "the file or folder")->required();
  cli::add_text(app, "--bpe", "FOLDER", options->bpe,
                "tokenize: GPT-2's encoder.json and vocab.bpe");
  cli::add_text(app, "--out", "PREFIX", options->out,
                "tokenize: writes PREFIX_train.bin and PREFIX_val.bin (FILE)");
  cli::add_real(app, "--val-fraction", options->val_fraction,
                "tokenize: held out at the end (0.1)");
  cli::add_whole(app, "--shard-tokens", options->shard_tokens,
                 "tokenize: training files of so many tokens (one file)", 1);
}

}  // namespace bcos::lab::commands
