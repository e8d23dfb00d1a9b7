#include "lab/models/resnet.hpp"

#include <cmath>

namespace bcos::lab::models {
namespace {

torch::nn::Conv2d conv3x3(std::int64_t in, std::int64_t out, std::int64_t stride) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false));
}

class ResidualBlock : public torch::nn::Module {
 public:
  ResidualBlock(std::int64_t in, std::int64_t out)
      : stride_(in == out ? 1 : 2),
        pad_((out - in) / 2),
        conv1_(register_module("conv1", conv3x3(in, out, stride_))),
        bn1_(register_module("bn1", torch::nn::BatchNorm2d(out))),
        conv2_(register_module("conv2", conv3x3(out, out, 1))),
        bn2_(register_module("bn2", torch::nn::BatchNorm2d(out))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor inner = bn1_->forward(conv1_->forward(x)).relu_();
    return (bn2_->forward(conv2_->forward(inner)) + shortcut(x)).relu_();
  }

 private:
  torch::Tensor shortcut(const torch::Tensor& x) const {
    if (stride_ == 1) return x;
    const torch::Tensor every_second = x.slice(2, 0, std::nullopt, 2).slice(3, 0, std::nullopt, 2);
    return torch::constant_pad_nd(every_second, {0, 0, 0, 0, pad_, pad_});
  }

  std::int64_t stride_;
  std::int64_t pad_;
  torch::nn::Conv2d conv1_;
  torch::nn::BatchNorm2d bn1_;
  torch::nn::Conv2d conv2_;
  torch::nn::BatchNorm2d bn2_;
};

}  // namespace

ResNet::ResNet(const ModelOptions& options) : Model(options) {
  validate(options);
  std::int64_t channels = 16;
  conv1_ = register_module("conv1", conv3x3(options.channels, channels, 1));
  bn1_ = register_module("bn1", torch::nn::BatchNorm2d(channels));
  register_module("blocks", blocks_);
  for (const std::int64_t out : {16, 32, 64}) {
    for (int i = 0; i < (options.depth - 2) / 6; ++i) {
      blocks_->push_back(std::make_shared<ResidualBlock>(channels, out));
      channels = out;
    }
  }
  linear_ = register_module("linear", std::make_shared<Linear>(channels, options.classes, true));
  initialise();
}

void ResNet::initialise() {
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& weight : parameters()) {
    if (weight.dim() < 2) continue;  // BatchNorm and the bias are 1 and 0 already
    const auto fan_in = static_cast<double>(weight.numel() / weight.size(0));
    weight.normal_(0, std::sqrt(2 / fan_in));
  }
}

torch::Tensor ResNet::forward(const torch::Tensor& images) {
  check_images(images, options(), false);
  torch::Tensor x = bn1_->forward(conv1_->forward(images)).relu_();
  for (const auto& block : *blocks_) x = static_cast<ResidualBlock&>(*block).forward(x);
  return linear_->forward(x.mean({2, 3}));
}

}  // namespace bcos::lab::models
