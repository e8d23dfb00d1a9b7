#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace bcos::lab::diagnosis {

/// |d_k| / sqrt(v_k) over blocks: how much longer than alpha a step is. Methods with a finite
/// amplification_bound (bcos/method.hpp) keep it below that.
struct Amplification {
  double largest = 0;
  double sum = 0;
  std::uint64_t blocks = 0;

  Amplification& operator+=(const Amplification& other);
  std::optional<double> mean() const;  ///< none where there are no blocks
};

/// v has one number a block. Blocks whose v is below the smallest normal number of T are left out:
/// too few digits of it are left to divide by.
template <class T>
Amplification amplification(std::span<const T> d, std::span<const T> v);

}  // namespace bcos::lab::diagnosis
