// Trains a small classifier on two spirals with LibTorch and BCOS: decay on matrices alone, a
// cosine schedule with warm-up, and a state file that C++, C and Python can read.
#include <bcos/libtorch.h>
#include <torch/nn.h>

#include <cstdio>

struct Net : torch::nn::Module {
  torch::nn::Linear in{nullptr}, hidden{nullptr}, out{nullptr};
  Net() {
    in = register_module("in", torch::nn::Linear(2, 64));
    hidden = register_module("hidden", torch::nn::Linear(64, 64));
    out = register_module("out", torch::nn::Linear(64, 2));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    return out(torch::tanh(hidden(torch::tanh(in(x)))));
  }
};

int main() {
  torch::manual_seed(0);
  const torch::Tensor turn = torch::linspace(0.5, 9.0, 256);
  const torch::Tensor one = torch::stack({turn * turn.cos(), turn * turn.sin()}, 1) / 9.0;
  const torch::Tensor points = torch::cat({one, -one});
  const torch::Tensor labels =
      torch::cat({torch::zeros({256}, torch::kLong), torch::ones({256}, torch::kLong)});

  Net net;
  std::vector<torch::Tensor> matrices, others;
  for (const torch::Tensor& p : net.parameters()) (p.dim() >= 2 ? matrices : others).push_back(p);

  using bcos::libtorch::BCOSOptions;
  const int steps = 600;
  bcos::libtorch::BCOS optimizer(matrices, BCOSOptions(0.01).weight_decay(0.01).max_norm(1.0));
  optimizer.add_param_group(
      {others, std::make_unique<BCOSOptions>(BCOSOptions(0.01).weight_decay(0.0).max_norm(1.0))});
  bcos::libtorch::ScheduleLR schedule(
      optimizer, {.curve = bcos::Curve::cosine, .alpha_max = 0.01, .warmup = 60, .total = steps});

  for (int t = 0; t < steps; ++t) {
    optimizer.zero_grad();
    const torch::Tensor loss = torch::nn::functional::cross_entropy(net.forward(points), labels);
    loss.backward();
    optimizer.step();
    schedule.step();
    if (t % 100 == 0) std::printf("step %3d  loss %.4f\n", t, loss.item<double>());
  }
  optimizer.save_file("spirals.safetensors", net.named_parameters());
  const double right =
      net.forward(points).argmax(1).eq(labels).to(torch::kDouble).mean().item<double>();
  std::printf("right: %.1f %%\n", 100 * right);
  return right > 0.95 ? 0 : 1;
}
