#pragma once

#include <cstdint>
#include <optional>

#include "bcos/safetensors.hpp"

namespace bcos::lab::commands {

/// Of the finite numbers of a tensor.
struct TensorStats {
  double least = 0;
  double most = 0;
  double rms = 0;
  std::uint64_t finite = 0;
  std::uint64_t not_finite = 0;
};

/// Nothing for dtypes other than F32 and F64. Reads the tensor, so its checksum is checked too.
std::optional<TensorStats> tensor_stats(const safetensors::File& file,
                                        const safetensors::TensorInfo& tensor);

}  // namespace bcos::lab::commands
