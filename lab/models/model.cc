#include "lab/models/model.hpp"

#include <torch/nn/functional/loss.h>

namespace bcos::lab::models {

torch::Tensor Model::loss(const torch::Tensor& input, const torch::Tensor& target) {
  return loss_of(forward(input), target);
}

torch::Tensor Model::loss_of(const torch::Tensor& logits, const torch::Tensor& target) const {
  const double smoothing = is_training() ? options_.label_smoothing : 0;
  return torch::nn::functional::cross_entropy(
      logits.flatten(0, -2), target.flatten(),
      torch::nn::functional::CrossEntropyFuncOptions().label_smoothing(smoothing));
}

std::int64_t count_parameters(const Model& model) {
  std::int64_t count = 0;
  for (const torch::Tensor& parameter : model.parameters()) count += parameter.numel();
  return count;
}

}  // namespace bcos::lab::models
