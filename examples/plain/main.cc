// Fits a line to noisy points with BCOS-c, without any framework: the program computes its own
// gradients and keeps its own memory.
#include <bcos/bcos.hpp>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

int main() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(512), y(512);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = normal(random);
    y[i] = 3.0F * x[i] - 1.0F + 0.1F * normal(random);
  }

  std::vector<float> line = {0.0F, 0.0F};  // slope and intercept
  std::vector<float> gradient(2);
  bcos::Optimizer optimizer(bcos::bcosw_c, {.lambda = 0.0});
  const auto id = optimizer.add("line", line, {2});
  const bcos::Schedule schedule{
      .curve = bcos::Curve::cosine, .alpha_max = 0.05, .warmup = 20, .total = 400};

  for (std::uint64_t t = 0; t < 400; ++t) {
    gradient = {0.0F, 0.0F};
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float error = line[0] * x[i] + line[1] - y[i];
      gradient[0] += error * x[i] / 512.0F;
      gradient[1] += error / 512.0F;
    }
    optimizer.step(bcos::alpha_at(schedule, t), {{id, gradient}});
  }
  optimizer.save("line.safetensors");
  std::printf("slope %.2f, intercept %.2f\n", line[0], line[1]);
  return std::abs(line[0] - 3.0F) < 0.05F && std::abs(line[1] + 1.0F) < 0.05F ? 0 : 1;
}
