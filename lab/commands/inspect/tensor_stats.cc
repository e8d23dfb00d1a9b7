#include "lab/commands/inspect/tensor_stats.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bcos::lab::commands {
namespace {

template <class T>
TensorStats stats_of(const std::vector<T>& values) {
  TensorStats stats;
  double largest = 0;
  for (const T item : values) {
    const auto value = static_cast<double>(item);
    if (!std::isfinite(value)) {
      ++stats.not_finite;
      continue;
    }
    stats.least = stats.finite == 0 ? value : std::min(stats.least, value);
    stats.most = stats.finite == 0 ? value : std::max(stats.most, value);
    largest = std::max(largest, std::abs(value));
    ++stats.finite;
  }
  if (largest == 0) return stats;
  double sum = 0;  // of squares of ratios, which cannot overflow
  for (const T item : values) {
    const double ratio = static_cast<double>(item) / largest;
    if (std::isfinite(static_cast<double>(item))) sum += ratio * ratio;
  }
  stats.rms = largest * std::sqrt(sum / static_cast<double>(stats.finite));
  return stats;
}

template <class T>
TensorStats read_stats(const safetensors::File& file, const safetensors::TensorInfo& tensor) {
  std::vector<T> values((tensor.end - tensor.begin) / sizeof(T));
  file.read(tensor, std::as_writable_bytes(std::span(values)));
  return stats_of(values);
}

}  // namespace

std::optional<TensorStats> tensor_stats(const safetensors::File& file,
                                        const safetensors::TensorInfo& tensor) {
  if (tensor.dtype == "F32") return read_stats<float>(file, tensor);
  if (tensor.dtype == "F64") return read_stats<double>(file, tensor);
  return std::nullopt;
}

}  // namespace bcos::lab::commands
