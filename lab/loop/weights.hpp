#pragma once

#include <torch/torch.h>

#include <string>

namespace bcos::lab::loop {

/// Parameters and buffers of a model as one safetensors file, by name. Throws Error if one of them
/// is not finite: such a file is worth nothing.
void save_weights(const torch::nn::Module& model, const std::string& path);

/// Throws Error naming the tensor if names, shapes or types differ; then nothing was changed.
void load_weights(torch::nn::Module& model, const std::string& path);

}  // namespace bcos::lab::loop
