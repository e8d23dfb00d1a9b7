#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bcos/method.hpp"
#include "lab/training/settings.hpp"

namespace bcos::lab {

/// A tensor of a model in training.
struct DiagnosedTensor {
  std::string name;
  std::string group;
  std::span<const float> x;  ///< the live weights
  Method method;
};

/// What a tensor is for: embeddings, attention, mlp, convolutions, output; vectors (biases, gains)
/// whatever they belong to. By the names of lab/models.
std::string tensor_group(std::string_view name, std::size_t rank);

/// The weights of another run, to aim at.
struct Reference {
  std::string path;  ///< of the checkpoint
  std::uint64_t step = 0;
  Settings settings;
  std::vector<std::vector<float>> weights;  ///< in the order of the tensors
};

/// The latest checkpoint of a run, given by its folder, or one checkpoint, given by its own. Throws
/// Error that says what is missing, or which tensor is another.
Reference read_reference(const std::string& path, std::span<const DiagnosedTensor> tensors);

}  // namespace bcos::lab
