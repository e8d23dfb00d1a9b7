#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/error.hpp"
#include "engine/strict_json.hpp"
#include "lab/data/bpe.hpp"
#include "lab/data/unicode.hpp"

namespace bcos::lab::data {
namespace {

constexpr std::string_view kWhere = "bpe";
constexpr std::uint64_t kLargestFile = std::uint64_t{64} << 20;

bool is_printable(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad);
}

struct Alphabet {
  std::array<char32_t, 256> sign_of{};
  std::array<int, 0x200> byte_of{};
};

Alphabet make_alphabet() {
  Alphabet alphabet;
  alphabet.byte_of.fill(-1);
  char32_t spare = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char32_t sign = is_printable(byte) ? char32_t{byte} : spare++;
    alphabet.sign_of[byte] = sign;
    alphabet.byte_of[sign] = static_cast<int>(byte);
  }
  return alphabet;
}

const Alphabet& alphabet() {
  static const Alphabet made = make_alphabet();
  return made;
}

using Ids = std::unordered_map<std::string, std::uint32_t>;

/// encoder.json: {"piece": id, ...}.
std::vector<std::string> read_pieces(const std::string& text, const std::string& path) {
  // An object with a key twice would lose one of them in the parser without a word, and then the
  // ids are not dense.
  nlohmann::json json;
  try {
    json = parse_strict(text, kWhere, fmt::format(" in {}", path));
  } catch (const nlohmann::json::exception& error) {
    throw fail(ErrorCode::corrupt, kWhere, "expected JSON in '{}' but received: {}", path,
               error.what());
  }
  if (!json.is_object()) {
    throw fail(ErrorCode::corrupt, kWhere, "expected an object of pieces and ids in '{}'", path);
  }
  std::vector<std::optional<std::string>> found(json.size());
  for (const auto& [key, value] : json.items()) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= found.size()) {
      throw fail(ErrorCode::corrupt, kWhere,
                 "expected ids from 0 to {}, one for each of the {} pieces of '{}', but received "
                 "{} for '{}'",
                 found.size() - 1, found.size(), path, value.dump().substr(0, 40), key);
    }
    auto& place = found[value.get<std::uint64_t>()];
    if (place) {
      throw fail(ErrorCode::corrupt, kWhere, "expected every id of '{}' once but received {} again",
                 path, value.get<std::uint64_t>());
    }
    place = from_printable(key, path);
  }
  std::vector<std::string> pieces;
  pieces.reserve(found.size());
  for (auto& piece : found) pieces.push_back(std::move(*piece));
  return pieces;
}

/// vocab.bpe: a line "#version: ...", then "left right" a line.
std::vector<Bpe::Merge> read_merges(std::string_view text, const std::vector<std::string>& pieces,
                                    const std::string& path) {
  Ids id_of;
  for (std::uint32_t id = 0; id < pieces.size(); ++id) id_of.emplace(pieces[id], id);
  std::vector<Bpe::Merge> merges;
  for (std::size_t line_number = 1; !text.empty(); ++line_number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line_number == 1 && line.starts_with("#version")) continue;
    if (line.empty() && text.empty()) break;
    const std::size_t space = line.find(' ');
    if (space == 0 || space == std::string_view::npos || space + 1 == line.size() ||
        line.find(' ', space + 1) != std::string_view::npos) {
      throw fail(ErrorCode::corrupt, kWhere,
                 "expected two pieces with a space between them in line {} of '{}' but received "
                 "'{}'",
                 line_number, path, line.substr(0, 80));
    }
    const auto id = [&](std::string_view piece) {
      const auto known = id_of.find(from_printable(piece, path));
      if (known == id_of.end()) {
        throw fail(ErrorCode::corrupt, kWhere,
                   "expected pieces of encoder.json in line {} of '{}' but received '{}'",
                   line_number, path, piece.substr(0, 80));
      }
      return known->second;
    };
    merges.push_back({id(line.substr(0, space)), id(line.substr(space + 1))});
  }
  return merges;
}

}  // namespace

std::string printable(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes)
    append_utf8(text, alphabet().sign_of[static_cast<unsigned char>(byte)]);
  return text;
}

std::string from_printable(std::string_view text, std::string_view where) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint sign = code_point_at(text, at);
    const bool known = sign.bytes > 0 && sign.value < alphabet().byte_of.size() &&
                       alphabet().byte_of[sign.value] >= 0;
    if (!known) {
      throw fail(ErrorCode::corrupt, kWhere,
                 "expected characters that stand for bytes in '{}' but received '{}'", where,
                 text.substr(0, 80));
    }
    bytes.push_back(static_cast<char>(alphabet().byte_of[sign.value]));
    at += sign.bytes;
  }
  return bytes;
}

Bpe Bpe::open(const std::string& folder, std::vector<FileFact>* files) {
  const auto read = [&](const char* name) {
    const std::string path = (std::filesystem::path(folder) / name).string();
    std::string text = DataFile(path).text(kLargestFile);
    if (files != nullptr) files->push_back(fact_of(path, text));
    return std::pair(std::move(text), path);
  };
  const auto [encoder, encoder_path] = read("encoder.json");
  const auto [merges, merges_path] = read("vocab.bpe");
  std::vector<std::string> pieces = read_pieces(encoder, encoder_path);
  std::vector<Merge> list = read_merges(merges, pieces, merges_path);
  try {
    return {std::move(pieces), std::move(list)};
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{} (in '{}')", error.what(), folder));
  }
}

}  // namespace bcos::lab::data
