#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace bcos::testing {

template <class T>
auto bits_of(T value) {
  if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(value);
  if constexpr (sizeof(T) == 8) return std::bit_cast<std::uint64_t>(value);
}

/// Whether two arrays are equal to the last bit; any NaN equals any other.
template <class T>
::testing::AssertionResult same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) {
    return ::testing::AssertionFailure() << "sizes " << a.size() << " and " << b.size();
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (bits_of(a[i]) == bits_of(b[i]) || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    return ::testing::AssertionFailure()
           << "element " << i << ": " << ::testing::PrintToString(a[i]) << " and "
           << ::testing::PrintToString(b[i]);
  }
  return ::testing::AssertionSuccess();
}

}  // namespace bcos::testing
