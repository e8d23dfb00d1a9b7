#pragma once

#include <cstdint>

namespace bcos::kernels {

/// Bit patterns of the two working types, as signed integers of their size.
template <class T>
struct FloatFormat;

template <>
struct FloatFormat<float> {
  using Bits = std::int32_t;
  static constexpr Bits exponent_mask = 0x7f800000;
  static constexpr Bits largest_power = Bits{254} << 23;  ///< of 2^127
  static constexpr Bits smallest_power = Bits{1} << 23;   ///< of 2^-126, normal
};

template <>
struct FloatFormat<double> {
  using Bits = std::int64_t;
  static constexpr Bits exponent_mask = 0x7ff0000000000000;
  static constexpr Bits largest_power = Bits{2046} << 52;
  static constexpr Bits smallest_power = Bits{1} << 52;
};

}  // namespace bcos::kernels
