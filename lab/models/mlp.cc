#include "lab/models/mlp.hpp"

#include <cmath>

#include "lab/models/layers.hpp"

namespace bcos::lab::models {

Mlp::Mlp(const ModelOptions& options) : Model(options) {
  validate(options);
  const torch::NoGradGuard no_grad;
  register_module("layers", layers_);
  std::int64_t in =
      static_cast<std::int64_t>(options.image_size) * options.image_size * options.channels;
  const auto add = [&](std::int64_t out) {
    const auto layer = std::make_shared<Linear>(in, out, true);
    layer->weight.normal_(0, std::sqrt(2.0 / static_cast<double>(in)));
    layers_->push_back(layer);
    in = out;
  };
  for (const int width : options.hidden) add(width);
  add(options.classes);
}

torch::Tensor Mlp::forward(const torch::Tensor& images) {
  check_images(images, options(), true);
  torch::Tensor x = images.flatten(1);
  for (std::size_t i = 0; i < layers_->size(); ++i) {
    if (i > 0) x = x.relu();
    x = static_cast<Linear&>(*layers_->ptr(i)).forward(x);
  }
  return x;
}

}  // namespace bcos::lab::models
