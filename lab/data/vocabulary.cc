#include "lab/data/vocabulary.hpp"

#include <utility>

#include "engine/error.hpp"
#include "lab/data/unicode.hpp"

namespace bcos::lab::data {
namespace {

constexpr std::string_view kWhere = "vocabulary";

std::size_t checked_id(std::int64_t id, std::uint64_t size) {
  if (id < 0 || static_cast<std::uint64_t>(id) >= size) {
    throw fail(kWhere, "expected ids in [0, {}) but received {}", size, id);
  }
  return static_cast<std::size_t>(id);
}

}  // namespace

Vocabulary Vocabulary::characters(std::span<const std::string_view> texts) {
  std::vector<bool> seen(0x110000);
  for (const std::string_view text : texts) {
    check_utf8(text, "the text");
    for (std::size_t at = 0; at < text.size();) {
      const CodePoint point = code_point_at(text, at);
      seen[point.value] = true;
      at += point.bytes;
    }
  }
  std::vector<char32_t> found;
  for (char32_t value = 0; value < seen.size(); ++value) {
    if (seen[value]) found.push_back(value);
  }
  return of_points(found);
}

Vocabulary Vocabulary::of_points(const std::vector<char32_t>& points) {
  Vocabulary made(Kind::characters, points.size());
  made.points_ = points;
  for (std::uint32_t id = 0; id < points.size(); ++id) made.id_of_.emplace(points[id], id);
  return made;
}

Vocabulary Vocabulary::bpe(Bpe bpe) {
  Vocabulary made(Kind::bpe, bpe.size());
  made.bpe_ = std::make_shared<const Bpe>(std::move(bpe));
  return made;
}

std::string_view Vocabulary::name() const {
  switch (kind_) {
    case Kind::bytes:
      return "bytes";
    case Kind::ascii:
      return "ascii";
    case Kind::characters:
      return "chars";
    case Kind::bpe:
      return "bpe";
    default:
      return "tokens";
  }
}

std::vector<std::uint32_t> Vocabulary::encode(std::string_view text) const {
  if (kind_ == Kind::bpe) return bpe_->encode(text);
  if (kind_ == Kind::tokens) {
    throw fail(
        kWhere,
        "expected a vocabulary that knows text but received token ids alone; train with bpe, "
        "chars or bytes to give it text");
  }
  std::vector<std::uint32_t> ids;
  ids.reserve(text.size());
  if (kind_ != Kind::characters) {
    for (const char c : text) {
      const auto byte = static_cast<std::uint8_t>(c);
      ids.push_back(kind_ == Kind::ascii ? as_ascii(byte) : byte);
    }
    return ids;
  }
  check_utf8(text, "the text");
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const auto known = id_of_.find(point.value);
    if (known == id_of_.end()) {
      throw fail(kWhere,
                 "expected one of the {} characters of the training text but received '{}' "
                 "(U+{:04X}) at offset {}",
                 size_, text.substr(at, point.bytes), static_cast<std::uint32_t>(point.value), at);
    }
    ids.push_back(known->second);
    at += point.bytes;
  }
  return ids;
}

std::string Vocabulary::decode(std::span<const std::int64_t> ids) const {
  if (kind_ == Kind::bpe) return bpe_->decode(ids);
  std::string text;
  for (const std::int64_t id : ids) {
    const std::size_t place = checked_id(id, size_);
    switch (kind_) {
      case Kind::characters:
        append_utf8(text, points_[place]);
        break;
      case Kind::tokens:
        text += text.empty() ? "" : " ";
        text += std::to_string(id);
        break;
      default:
        text.push_back(static_cast<char>(place));
    }
  }
  return text;
}

}  // namespace bcos::lab::data
