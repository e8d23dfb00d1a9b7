#pragma once

#include <torch/nn/modules/container/modulelist.h>

#include <memory>
#include <optional>

#include "lab/models/attention.hpp"
#include "lab/models/layers.hpp"
#include "lab/models/model.hpp"

namespace bcos::lab::models {

/// GPT-2: LayerNorm before attention and MLP, weights drawn from normal(0, 0.02), those that write
/// to the residual stream from normal(0, 0.02 / sqrt(2 layers)). Parameters are named as Hugging
/// Face names them, without "transformer.": wte.weight, h.0.attn.c_attn.weight, ..., ln_f.weight,
/// and lm_head.weight if it is not tied. Weights of linear layers are [out, in].
class Gpt : public Model {
 public:
  explicit Gpt(const ModelOptions& options);

  torch::Tensor forward(const torch::Tensor& tokens) override;

  /// Logits of what follows the last token: [batch, vocab_size].
  torch::Tensor next(const torch::Tensor& tokens);

 private:
  torch::Tensor hidden(const torch::Tensor& tokens);
  torch::Tensor logits(const torch::Tensor& hidden) const;
  void check(const torch::Tensor& tokens) const;
  void initialise();

  std::shared_ptr<Embedding> wte_;
  std::shared_ptr<Embedding> wpe_;  ///< none with rotary positions
  std::optional<Rotary> rotary_;
  torch::nn::ModuleList blocks_;
  std::shared_ptr<LayerNorm> ln_f_;
  std::shared_ptr<Linear> lm_head_;  ///< none if tied
};

}  // namespace bcos::lab::models
