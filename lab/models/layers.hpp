#pragma once

#include <torch/nn/module.h>

#include <cstdint>

#include "lab/models/options.hpp"

/// Layers that several models share. Unlike torch's they draw no random numbers when they are made:
/// a model initialises its weights itself, in the order of their names.
namespace bcos::lab::models {

/// y = x W^T + b with weight [out, in].
class Linear : public torch::nn::Module {
 public:
  Linear(std::int64_t in, std::int64_t out, bool has_bias);
  torch::Tensor forward(const torch::Tensor& x) const { return torch::linear(x, weight, bias); }

  torch::Tensor weight;
  torch::Tensor bias;  ///< undefined without one
};

/// Over the last dimension; the gain begins as 1.
class LayerNorm : public torch::nn::Module {
 public:
  LayerNorm(std::int64_t width, bool has_bias, double eps);
  torch::Tensor forward(const torch::Tensor& x) const;

  torch::Tensor weight;
  torch::Tensor bias;  ///< undefined without one

 private:
  double eps_;
};

/// The rows of a table.
class Embedding : public torch::nn::Module {
 public:
  Embedding(std::int64_t rows, std::int64_t width);

  torch::Tensor weight;
};

/// Drops whole samples of a residual branch with probability `rate` and scales the others up.
torch::Tensor drop_path(const torch::Tensor& branch, double rate, bool training);

/// Throws Error unless the input is [batch, channels, height, width] with the channels of the
/// options and, if `exact_size`, their image_size.
void check_images(const torch::Tensor& input, const ModelOptions& options, bool exact_size);

}  // namespace bcos::lab::models
