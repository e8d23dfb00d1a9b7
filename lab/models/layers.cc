#include "lab/models/layers.hpp"

#include <fmt/ranges.h>

#include "engine/error.hpp"

namespace bcos::lab::models {

Linear::Linear(std::int64_t in, std::int64_t out, bool has_bias)
    : weight(register_parameter("weight", torch::zeros({out, in}))) {
  if (has_bias) bias = register_parameter("bias", torch::zeros({out}));
}

LayerNorm::LayerNorm(std::int64_t width, bool has_bias, double eps)
    : weight(register_parameter("weight", torch::ones({width}))), eps_(eps) {
  if (has_bias) bias = register_parameter("bias", torch::zeros({width}));
}

torch::Tensor LayerNorm::forward(const torch::Tensor& x) const {
  return torch::layer_norm(x, weight.sizes(), weight, bias, eps_);
}

Embedding::Embedding(std::int64_t rows, std::int64_t width)
    : weight(register_parameter("weight", torch::zeros({rows, width}))) {}

torch::Tensor drop_path(const torch::Tensor& branch, double rate, bool training) {
  if (!training || rate == 0) return branch;
  std::vector<std::int64_t> shape(static_cast<std::size_t>(branch.dim()), 1);
  shape[0] = branch.size(0);
  const torch::Tensor kept = torch::empty(shape, branch.options()).bernoulli_(1 - rate);
  return branch * kept.div_(1 - rate);
}

void check_images(const torch::Tensor& input, const ModelOptions& options, bool exact_size) {
  const bool fits =
      input.dim() == 4 && input.is_floating_point() && input.size(1) == options.channels &&
      (!exact_size || (input.size(2) == options.image_size && input.size(3) == options.image_size));
  if (fits) return;
  const std::string size = exact_size ? std::to_string(options.image_size) : "any";
  throw fail(ErrorCode::mismatch, options.kind,
             "expected float images of shape [batch, {}, {}, {}] but received {} [{}]",
             options.channels, size, size, c10::toString(input.scalar_type()),
             fmt::join(input.sizes(), ", "));
}

}  // namespace bcos::lab::models
