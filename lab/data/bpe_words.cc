#include "lab/data/bpe_words.hpp"

#include "lab/data/unicode.hpp"

namespace bcos::lab::data {
namespace {

enum class Kind { none, letter, number, space, other };

Kind kind_of(char32_t value) {
  if (is_letter(value)) return Kind::letter;
  if (is_number(value)) return Kind::number;
  return is_space(value) ? Kind::space : Kind::other;
}

struct Sign {
  Kind kind = Kind::none;  ///< none: the text has ended
  std::size_t bytes = 0;
};

Sign sign_at(std::string_view text, std::size_t at) {
  const CodePoint point = code_point_at(text, at);
  if (point.bytes == 0) return {};
  return {kind_of(point.value), point.bytes};
}

/// The bytes from `at` for as long as the kind stays the same.
std::size_t run_length(std::string_view text, std::size_t at, Kind kind) {
  const std::size_t begin = at;
  for (Sign sign = sign_at(text, at); sign.kind == kind; sign = sign_at(text, at)) {
    at += sign.bytes;
  }
  return at - begin;
}

std::size_t ending_length(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  return 0;
}

std::size_t space_length(std::string_view text, std::size_t at) {
  std::size_t end = at;
  std::size_t last = 0;
  Sign sign = sign_at(text, at);
  for (; sign.kind == Kind::space; sign = sign_at(text, end)) {
    last = sign.bytes;
    end += last;
  }
  const std::size_t length = end - at;
  const bool text_ends = sign.kind == Kind::none;
  return text_ends || length == last ? length : length - last;
}

}  // namespace

std::size_t word_length(std::string_view text, std::size_t at) {
  if (const std::size_t ending = ending_length(text.substr(at)); ending > 0) return ending;
  const std::size_t space = text[at] == ' ' ? 1 : 0;
  const Sign first = sign_at(text, at + space);
  if (first.kind == Kind::none || first.kind == Kind::space) return space_length(text, at);
  return space + run_length(text, at + space, first.kind);
}

}  // namespace bcos::lab::data
