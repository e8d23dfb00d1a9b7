#pragma once

#include <span>
#include <string_view>

namespace bcos {

/// Names of the enumerators of E in their order, for the enumerations that files mention.
template <class E>
std::span<const std::string_view> names_of();

}  // namespace bcos
