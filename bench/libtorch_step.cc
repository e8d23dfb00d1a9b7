// A step of LibTorch's AdamW over a step of ours on GPT-2's 148 tensors, in turn.
//
//   cmake --build build --target bcos_libtorch_bench && build/bcos_libtorch_bench
#include <torch/optim/adamw.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <torch/version.h>

#include <cstdio>

#include "bcos/libtorch.h"
#include "bcos/target.hpp"
#include "lab/bench/arrays.hpp"
#include "lab/bench/sampler.hpp"

namespace {

std::vector<torch::Tensor> gpt2() {
  std::vector<torch::Tensor> params;
  for (const auto& shape : bcos::lab::gpt2_shapes()) {
    params.push_back((torch::randn(shape) * 0.02).set_requires_grad(true));
    params.back().mutable_grad() = torch::randn(shape) * 1e-3;
  }
  return params;
}

}  // namespace

int main() {
  constexpr int kPairs = 9;
  std::printf("torch %s, target %s\n", TORCH_VERSION,
              std::string(bcos::name(bcos::default_target())).c_str());
  const int all = torch::get_num_threads();
  const auto ours_on = gpt2(), theirs_on = gpt2();
  bcos::libtorch::BCOS ours(ours_on);
  torch::optim::AdamW theirs(theirs_on);
  for (const int threads : {1, all}) {
    torch::set_num_threads(threads);
    const auto times =
        bcos::lab::measure_pairs([&] { ours.step(); }, [&] { theirs.step(); }, kPairs);
    std::printf("AdamW over BCOS, GPT-2 list, %d thread%s: %.2f (%.2f-%.2f)\n", threads,
                threads == 1 ? "" : "s", times.ratio.median, times.ratio.low, times.ratio.high);
  }
}
