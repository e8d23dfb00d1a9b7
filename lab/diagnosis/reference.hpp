#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "bcos/method.hpp"
#include "lab/run/settings.hpp"

namespace bcos::lab::diagnosis {

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
  run::Settings settings;
  nlohmann::ordered_json data;              ///< what the checkpoint keeps of the data
  std::vector<std::vector<float>> weights;  ///< in the order of the tensors
};

/// The latest checkpoint of a run, given by its folder, or one checkpoint, given by its own.
/// `notice` is told of damaged ones that were passed over. Throws
/// Error that says what is missing, or which setting of the model or tensor is another.
Reference read_reference(const std::string& path, const run::Settings& own,
                         std::span<const DiagnosedTensor> tensors,
                         const std::function<void(const std::string&)>& notice);

}  // namespace bcos::lab::diagnosis
