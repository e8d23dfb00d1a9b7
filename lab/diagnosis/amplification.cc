#include "lab/diagnosis/amplification.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/diagnosis/blocks.hpp"

namespace bcos::lab::diagnosis {

Amplification& Amplification::operator+=(const Amplification& other) {
  largest = std::max(largest, other.largest);
  sum += other.sum;
  blocks += other.blocks;
  return *this;
}

std::optional<double> Amplification::mean() const {
  if (blocks == 0) return std::nullopt;
  return sum / static_cast<double>(blocks);
}

template <class T>
Amplification amplification(std::span<const T> d, std::span<const T> v) {
  const std::size_t size = block_size_of("amplification", d.size(), v.size());
  Amplification result;
  for (std::size_t k = 0; k < v.size(); ++k) {
    if (!(v[k] >= std::numeric_limits<T>::min())) continue;
    const double ratio =
        std::sqrt(squared_norm(d.subspan(k * size, size)) / static_cast<double>(v[k]));
    result.largest = std::max(result.largest, ratio);
    result.sum += ratio;
    ++result.blocks;
  }
  return result;
}

template Amplification amplification(std::span<const float>, std::span<const float>);
template Amplification amplification(std::span<const double>, std::span<const double>);

}  // namespace bcos::lab::diagnosis
