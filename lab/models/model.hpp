#pragma once

#include <torch/nn/module.h>

#include <cstdint>

#include "lab/models/options.hpp"

namespace bcos::lab::models {

/// A network that the trainer can train.
class Model : public torch::nn::Module {
 public:
  explicit Model(const ModelOptions& options) : options_(options) {}

  /// Logits, the classes last. GPTs read int64 tokens [batch, length], the others images [batch,
  /// channels, height, width]. Throws Error if the input has another form.
  virtual torch::Tensor forward(const torch::Tensor& input) = 0;

  /// Mean loss of a batch, in nats; targets are int64, and those of -100 do not count. Labels are
  /// smoothed in training mode only, so that losses in eval mode compare between models.
  torch::Tensor loss(const torch::Tensor& input, const torch::Tensor& target);
  /// The same of logits that are there already.
  torch::Tensor loss_of(const torch::Tensor& logits, const torch::Tensor& target) const;

  const ModelOptions& options() const { return options_; }

 private:
  ModelOptions options_;
};

/// How many numbers are trained; tied weights count once.
std::int64_t count_parameters(const Model& model);

/// Puts a model in eval mode, and back as it was at the end of the scope.
class EvalMode {
 public:
  explicit EvalMode(Model& model) : model_(model), was_training_(model.is_training()) {
    model_.eval();
  }
  ~EvalMode() { model_.train(was_training_); }
  EvalMode(const EvalMode&) = delete;
  EvalMode& operator=(const EvalMode&) = delete;

 private:
  Model& model_;
  bool was_training_;
};

}  // namespace bcos::lab::models
