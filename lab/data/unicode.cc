#include "lab/data/unicode.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "engine/error.hpp"

namespace bcos::lab::data {
namespace {

struct CodeRange {
  char32_t first;
  char32_t last;
};

#include "lab/data/unicode_ranges.inc"

constexpr CodeRange kSpaces[] = {
    {0x9, 0xd},       {0x20, 0x20},     {0x85, 0x85},     {0xa0, 0xa0},     {0x1680, 0x1680},
    {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}};

bool in(std::span<const CodeRange> ranges, char32_t value) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), value,
                       [](char32_t v, const CodeRange& range) { return v < range.first; });
  return after != ranges.begin() && value <= std::prev(after)->last;
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> char32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  const char32_t first = byte(0);
  if (at >= text.size()) return {};
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return {};
  char32_t value = first & (0xff >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3f);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kLeast[bytes] || surrogate || value > 0x10ffff) return {};
  return {value, bytes};
}

void append_utf8(std::string& text, char32_t value) {
  const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xc0 | value >> 6);
    put(0x80 | (value & 0x3f));
  } else if (value < 0x10000) {
    put(0xe0 | value >> 12);
    put(0x80 | (value >> 6 & 0x3f));
    put(0x80 | (value & 0x3f));
  } else {
    put(0xf0 | value >> 18);
    put(0x80 | (value >> 12 & 0x3f));
    put(0x80 | (value >> 6 & 0x3f));
    put(0x80 | (value & 0x3f));
  }
}

std::size_t valid_utf8_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t bytes = code_point_at(text, at).bytes;
    if (bytes == 0) break;
    at += bytes;
  }
  return at;
}

void check_utf8(std::string_view text, std::string_view name) {
  const std::size_t valid = valid_utf8_prefix(text);
  if (valid == text.size()) return;
  throw fail(ErrorCode::corrupt, "text",
             "expected UTF-8 in {} but received byte 0x{:02x} at offset {}; convert it, or read it "
             "as bytes",
             name, static_cast<unsigned char>(text[valid]), valid);
}

bool is_letter(char32_t value) {
  if (value < 0x80) return (value | 0x20) >= 'a' && (value | 0x20) <= 'z';
  return in(kLetters, value);
}

bool is_number(char32_t value) {
  if (value < 0x80) return value >= '0' && value <= '9';
  return in(kNumbers, value);
}

bool is_space(char32_t value) {
  if (value < 0x80) return value == ' ' || (value >= 0x9 && value <= 0xd);
  return in(kSpaces, value);
}

}  // namespace bcos::lab::data
