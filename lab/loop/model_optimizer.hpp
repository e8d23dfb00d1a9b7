#pragma once

#include <torch/torch.h>

#include <span>
#include <string>
#include <vector>

#include "bcos/optimizer.hpp"
#include "lab/diagnosis/reference.hpp"
#include "lab/run/settings.hpp"

namespace bcos::lab::loop {

/// The engine's optimizer on the parameters of a model, under their names. Matrices decay; vectors
/// (biases, gains, ViT's cls_token and pos_embed) do not unless decay_all.
class ModelOptimizer {
 public:
  ModelOptimizer(const torch::nn::Module& model, const run::Settings& settings);
  ModelOptimizer(const torch::nn::Module& model, const run::Settings& settings,
                 const Executor& executor);

  /// A step with the gradients that the parameters have; nothing changes if one is not finite.
  StepReport step(double lr);

  void save(const std::string& path) const { optimizer_.save(path); }
  void load(const std::string& path) { optimizer_.load(path); }

  /// The parameters as a diagnosis sees them, and where it wants to have what a step uses of each.
  std::vector<diagnosis::DiagnosedTensor> tensors() const;
  void set_taps(std::span<const Tap> taps) { taps_ = taps; }

  std::uint64_t decayed_tensors() const { return decayed_; }
  std::uint64_t state_bytes() const { return optimizer_.state_bytes(); }

 private:
  struct Entry {
    torch::Tensor parameter;
    ParameterId id;
    GroupId group;
  };
  Optimizer optimizer_;
  std::vector<Entry> entries_;
  std::vector<ParameterGradient> gradients_;
  std::vector<torch::Tensor> held_;
  std::span<const Tap> taps_;  // none, or one an entry
  std::uint64_t decayed_ = 0;
};

}  // namespace bcos::lab::loop
