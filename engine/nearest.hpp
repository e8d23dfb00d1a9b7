#pragma once

#include <span>
#include <string>
#include <string_view>

namespace bcos {

/// The word of `known` with the smallest edit distance to `word`: for "did you mean".
std::string nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace bcos
