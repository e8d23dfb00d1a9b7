#pragma once

#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/conv.h>

#include <memory>

#include "lab/models/layers.hpp"
#include "lab/models/model.hpp"

namespace bcos::lab::models {

/// The ResNets of He et al. (2016) for CIFAR: a 3x3 stem, three stages of 16, 32 and 64 channels
/// with (depth - 2) / 6 blocks each, shortcuts without parameters (every second pixel, channels
/// padded with zeros), the mean over the image, a linear layer. Weights are drawn as He et al. do.
/// Images may have any size.
class ResNet : public Model {
 public:
  explicit ResNet(const ModelOptions& options);

  torch::Tensor forward(const torch::Tensor& images) override;

 private:
  void initialise();

  torch::nn::Conv2d conv1_ = nullptr;
  torch::nn::BatchNorm2d bn1_ = nullptr;
  torch::nn::ModuleList blocks_;
  std::shared_ptr<Linear> linear_;
};

}  // namespace bcos::lab::models
