#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bcos::lab::data {

/// One character of UTF-8 text.
struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  ///< 0: not UTF-8 here
};

/// The character at `text[at]`, by the rules of RFC 3629: no surrogates, no detours, at most
/// U+10FFFF.
CodePoint code_point_at(std::string_view text, std::size_t at);

void append_utf8(std::string& text, char32_t value);

/// Where `text` stops being UTF-8, or its size.
std::size_t valid_utf8_prefix(std::string_view text);

/// Throws Error(corrupt) with the place of the first byte that is not UTF-8.
void check_utf8(std::string_view text, std::string_view name);

bool is_letter(char32_t value);  ///< category L
bool is_number(char32_t value);  ///< category N
bool is_space(char32_t value);   ///< property White_Space

}  // namespace bcos::lab::data
