#include "lab/models/vit.hpp"

#include <cmath>
#include <numbers>

#include "lab/models/attention.hpp"

namespace bcos::lab::models {
namespace {

constexpr double kEps = 1e-6;

class VitBlock : public torch::nn::Module {
 public:
  VitBlock(const ModelOptions& options, double drop_path)
      : heads_(options.heads), dropout_(options.dropout), drop_path_(drop_path) {
    const std::int64_t width = options.width;
    norm1_ = register_module("norm1", std::make_shared<LayerNorm>(width, true, kEps));
    qkv_ = register_module("qkv", std::make_shared<Linear>(width, 3 * width, true));
    proj_ = register_module("proj", std::make_shared<Linear>(width, width, true));
    norm2_ = register_module("norm2", std::make_shared<LayerNorm>(width, true, kEps));
    fc1_ = register_module("fc1", std::make_shared<Linear>(width, 4 * width, true));
    fc2_ = register_module("fc2", std::make_shared<Linear>(4 * width, width, true));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor y = x + kept(attention(norm1_->forward(x)));
    return y + kept(feedforward(norm2_->forward(y)));
  }

 private:
  torch::Tensor attention(const torch::Tensor& x) const {
    return proj_->forward(attend(qkv_->forward(x), {.heads = heads_}));
  }

  torch::Tensor feedforward(const torch::Tensor& x) const {
    const torch::Tensor inner = torch::gelu(fc1_->forward(x));
    return fc2_->forward(torch::dropout(inner, dropout_, is_training()));
  }

  torch::Tensor kept(const torch::Tensor& branch) const {
    return drop_path(torch::dropout(branch, dropout_, is_training()), drop_path_, is_training());
  }

  std::int64_t heads_;
  double dropout_;
  double drop_path_;
  std::shared_ptr<LayerNorm> norm1_;
  std::shared_ptr<Linear> qkv_;
  std::shared_ptr<Linear> proj_;
  std::shared_ptr<LayerNorm> norm2_;
  std::shared_ptr<Linear> fc1_;
  std::shared_ptr<Linear> fc2_;
};

void draw_cut_normal(torch::Tensor& tensor, double deviation) {
  const double edge = std::erf(std::numbers::sqrt2);  // of two deviations
  tensor.uniform_(-edge, edge).erfinv_().mul_(deviation * std::numbers::sqrt2);
}

}  // namespace

Vit::Vit(const ModelOptions& options) : Model(options) {
  validate(options);
  const std::int64_t width = options.width;
  const std::int64_t side = options.image_size / options.patch;
  cls_token_ = register_parameter("cls_token", torch::zeros({1, 1, width}));
  pos_embed_ = register_parameter("pos_embed", torch::zeros({1, side * side + 1, width}));
  patch_embed_ = register_module(
      "patch_embed",
      torch::nn::Conv2d(
          torch::nn::Conv2dOptions(options.channels, width, options.patch).stride(options.patch)));
  register_module("blocks", blocks_);
  for (int i = 0; i < options.layers; ++i) {
    const double share = options.layers == 1 ? 1 : static_cast<double>(i) / (options.layers - 1);
    blocks_->push_back(std::make_shared<VitBlock>(options, options.drop_path * share));
  }
  norm_ = register_module("norm", std::make_shared<LayerNorm>(width, true, kEps));
  head_ = register_module("head", std::make_shared<Linear>(width, options.classes, true));
  initialise();
}

void Vit::initialise() {
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : parameters()) {
    if (parameter.dim() > 1) draw_cut_normal(parameter, 0.02);
  }
  patch_embed_->bias.zero_();
}

torch::Tensor Vit::forward(const torch::Tensor& images) {
  check_images(images, options(), true);
  const torch::Tensor patches = patch_embed_->forward(images).flatten(2).transpose(1, 2);
  const torch::Tensor first = cls_token_.expand({images.size(0), -1, -1});
  torch::Tensor x = torch::cat({first, patches}, 1) + pos_embed_;
  x = torch::dropout(x, options().dropout, is_training());
  for (const auto& block : *blocks_) x = static_cast<VitBlock&>(*block).forward(x);
  return head_->forward(norm_->forward(x.select(1, 0)));
}

}  // namespace bcos::lab::models
