#pragma once

#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/conv.h>

#include <memory>

#include "lab/models/layers.hpp"
#include "lab/models/model.hpp"

namespace bcos::lab::models {

/// A vision transformer: patches, a class token, learned positions, LayerNorm first, exact GELU,
/// stochastic depth. Weights are drawn from normal(0, 0.02) cut at two deviations. layers 12, width
/// 192, heads 3, patch 16 and images of 224 make DeiT-tiny.
class Vit : public Model {
 public:
  explicit Vit(const ModelOptions& options);

  torch::Tensor forward(const torch::Tensor& images) override;

 private:
  void initialise();

  torch::Tensor cls_token_;
  torch::Tensor pos_embed_;
  torch::nn::Conv2d patch_embed_ = nullptr;
  torch::nn::ModuleList blocks_;
  std::shared_ptr<LayerNorm> norm_;
  std::shared_ptr<Linear> head_;
};

}  // namespace bcos::lab::models
