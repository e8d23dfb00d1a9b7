#include <nlohmann/json.hpp>

#include "engine/error.hpp"
#include "engine/strict_json.hpp"
#include "lab/data/unicode.hpp"
#include "lab/data/vocabulary.hpp"

namespace bcos::lab::data {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kWhere = "vocabulary";
constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 31;

Bpe bpe_from(const Json& json) {
  std::vector<std::string> pieces;
  for (const Json& piece : json.at("pieces")) {
    pieces.push_back(from_printable(piece.get_ref<const std::string&>(), "pieces"));
  }
  std::vector<Bpe::Merge> merges;
  for (const Json& merge : json.at("merges")) {
    if (!merge.is_array() || merge.size() != 2 || !merge[0].is_number_unsigned() ||
        !merge[1].is_number_unsigned()) {
      throw fail(ErrorCode::corrupt, kWhere, "expected merges as pairs of ids");
    }
    const auto left = merge[0].get<std::uint64_t>();
    const auto right = merge[1].get<std::uint64_t>();
    if (left >= pieces.size() || right >= pieces.size()) {
      throw fail(ErrorCode::corrupt, kWhere, "expected merges of ids below {} but received {} {}",
                 pieces.size(), left, right);
    }
    merges.push_back({static_cast<std::uint32_t>(left), static_cast<std::uint32_t>(right)});
  }
  return {std::move(pieces), std::move(merges)};
}

/// A size that must be in the file as a number in [1, 2^31].
std::uint64_t size_from(const Json& json) {
  const Json& size = json.at("size");
  if (!size.is_number_unsigned() || size.get<std::uint64_t>() == 0 ||
      size.get<std::uint64_t>() > kLargestSize) {
    throw fail(ErrorCode::corrupt, kWhere, "expected a size from 1 to {} but received {}",
               kLargestSize, size.dump().substr(0, 40));
  }
  return size.get<std::uint64_t>();
}

}  // namespace

std::string Vocabulary::to_json() const {
  Json json = {{"kind", name()}, {"size", size_}};
  if (kind_ == Kind::characters) {
    std::string text;
    for (const char32_t point : points_) append_utf8(text, point);
    json["characters"] = text;
  } else if (kind_ == Kind::bpe) {
    Json& pieces = json["pieces"] = Json::array();
    for (const std::string& piece : bpe_->pieces()) pieces.push_back(printable(piece));
    Json& merges = json["merges"] = Json::array();
    for (const auto& [left, right] : bpe_->merges()) merges.push_back({left, right});
  }
  return json.dump();
}

Vocabulary Vocabulary::from_json(std::string_view text) {
  try {
    const Json json = parse_strict(text, kWhere, " in a vocabulary");
    const auto& kind = json.at("kind").get_ref<const std::string&>();
    Vocabulary made;
    if (kind == "ascii") {
      made = ascii();
    } else if (kind == "tokens") {
      made = tokens(size_from(json));
    } else if (kind == "bpe") {
      made = bpe(bpe_from(json));
    } else if (kind == "chars") {
      const std::string_view list = json.at("characters").get_ref<const std::string&>();
      made = characters(std::span(&list, 1));
    } else if (kind != "bytes") {
      throw fail(ErrorCode::corrupt, kWhere,
                 "expected kind bytes, ascii, chars, bpe or tokens but received '{}'", kind);
    }
    if (made.size() != size_from(json)) {
      throw fail(ErrorCode::corrupt, kWhere, "expected {} ids but received {}", size_from(json),
                 made.size());
    }
    return made;
  } catch (const Json::exception& error) {
    throw fail(ErrorCode::corrupt, kWhere, "expected the JSON of a vocabulary but received: {}",
               error.what());
  }
}

}  // namespace bcos::lab::data
