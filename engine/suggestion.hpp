#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bcos {

/// "; did you mean 'x'?" with the known word x that takes the fewest edits, for the end of an
/// error; nothing if that would change every letter.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace bcos
