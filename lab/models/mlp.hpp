#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include "lab/models/model.hpp"

namespace bcos::lab::models {

/// Images, flattened, through hidden layers with ReLU. Weights are drawn as He et al. do; no hidden
/// layers make it logistic regression.
class Mlp : public Model {
 public:
  explicit Mlp(const ModelOptions& options);

  torch::Tensor forward(const torch::Tensor& images) override;

 private:
  torch::nn::ModuleList layers_;
};

}  // namespace bcos::lab::models
