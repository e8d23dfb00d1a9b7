#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>

#include "engine/error.hpp"

namespace bcos::lab::diagnosis {

/// How many elements each of `blocks` blocks has; they follow each other, all of one size.
inline std::size_t block_size_of(std::string_view function, std::size_t elements,
                                 std::size_t blocks) {
  if (blocks == 0 ? elements != 0 : elements % blocks != 0) {
    throw fail(function, "expected blocks of one size but received {} elements in {} blocks",
               elements, blocks);
  }
  return blocks == 0 ? 0 : elements / blocks;
}

template <class T>
double squared_norm(std::span<const T> values) {
  double sum = 0;
  for (const T value : values) sum += static_cast<double>(value) * value;
  return sum;
}

/// What a block is divided by: sqrt(v + eps_root) + eps, or |d_k| where that is 0.
template <class T>
double divisor_of(std::span<const T> d, double v, double eps_root, double eps) {
  const double usual = std::sqrt(v + eps_root) + eps;
  if (usual > 0) return usual;
  const double norm = std::sqrt(squared_norm(d));
  return norm > 0 ? norm : 1;
}

}  // namespace bcos::lab::diagnosis
