#include "lab/models/gpt.hpp"

#include <fmt/ranges.h>

#include <cmath>

#include "engine/error.hpp"

namespace bcos::lab::models {
namespace {

constexpr double kEps = 1e-5;

class Attention : public torch::nn::Module {
 public:
  explicit Attention(const ModelOptions& options)
      : heads_(options.heads),
        dropout_(options.dropout),
        c_attn_(register_module(
            "c_attn", std::make_shared<Linear>(options.width, 3L * options.width, options.bias))),
        c_proj_(register_module(
            "c_proj", std::make_shared<Linear>(options.width, options.width, options.bias))) {}

  torch::Tensor forward(const torch::Tensor& x, const Rotary::Turn* turn) {
    const torch::Tensor mixed = attend(
        c_attn_->forward(x),
        {.heads = heads_, .causal = true, .dropout = is_training() ? dropout_ : 0, .turn = turn});
    return torch::dropout(c_proj_->forward(mixed), dropout_, is_training());
  }

 private:
  std::int64_t heads_;
  double dropout_;
  std::shared_ptr<Linear> c_attn_;
  std::shared_ptr<Linear> c_proj_;
};

class Feedforward : public torch::nn::Module {
 public:
  explicit Feedforward(const ModelOptions& options)
      : relu_(options.activation == "relu"),
        dropout_(options.dropout),
        c_fc_(register_module(
            "c_fc", std::make_shared<Linear>(options.width, 4L * options.width, options.bias))),
        c_proj_(register_module(
            "c_proj", std::make_shared<Linear>(4L * options.width, options.width, options.bias))) {}

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor inner = c_fc_->forward(x);
    const torch::Tensor active = relu_ ? inner.relu() : torch::gelu(inner, "tanh");
    return torch::dropout(c_proj_->forward(active), dropout_, is_training());
  }

 private:
  bool relu_;
  double dropout_;
  std::shared_ptr<Linear> c_fc_;
  std::shared_ptr<Linear> c_proj_;
};

class Block : public torch::nn::Module {
 public:
  explicit Block(const ModelOptions& options)
      : ln_1_(register_module("ln_1",
                              std::make_shared<LayerNorm>(options.width, options.bias, kEps))),
        attn_(register_module("attn", std::make_shared<Attention>(options))),
        ln_2_(register_module("ln_2",
                              std::make_shared<LayerNorm>(options.width, options.bias, kEps))),
        mlp_(register_module("mlp", std::make_shared<Feedforward>(options))) {}

  torch::Tensor forward(const torch::Tensor& x, const Rotary::Turn* turn) {
    const torch::Tensor y = x + attn_->forward(ln_1_->forward(x), turn);
    return y + mlp_->forward(ln_2_->forward(y));
  }

 private:
  std::shared_ptr<LayerNorm> ln_1_;
  std::shared_ptr<Attention> attn_;
  std::shared_ptr<LayerNorm> ln_2_;
  std::shared_ptr<Feedforward> mlp_;
};

/// The rows in use; no copy and no extra gradient where all are.
torch::Tensor used_rows(const torch::Tensor& weight, std::int64_t rows) {
  return weight.size(0) == rows ? weight : weight.narrow(0, 0, rows);
}

}  // namespace

Gpt::Gpt(const ModelOptions& options) : Model(options) {
  validate(options);
  const std::int64_t vocab = padded_vocab(options);
  const std::int64_t width = options.width;
  wte_ = register_module("wte", std::make_shared<Embedding>(vocab, width));
  if (options.positions == "rotary") {
    rotary_.emplace(options.context, width / options.heads);
  } else {
    wpe_ = register_module("wpe", std::make_shared<Embedding>(options.context, width));
  }
  register_module("h", blocks_);
  for (int i = 0; i < options.layers; ++i) blocks_->push_back(std::make_shared<Block>(options));
  ln_f_ = register_module("ln_f", std::make_shared<LayerNorm>(width, options.bias, kEps));
  if (!options.tied) {
    lm_head_ = register_module("lm_head", std::make_shared<Linear>(width, vocab, false));
  }
  initialise();
}

void Gpt::initialise() {
  const torch::NoGradGuard no_grad;
  const double residual = 0.02 / std::sqrt(2.0 * options().layers);
  for (auto& item : named_parameters()) {
    torch::Tensor weight = item.value();
    if (weight.dim() != 2) continue;  // biases are 0 and gains 1 already
    const bool is_vocab = item.key() == "wte.weight" || item.key() == "lm_head.weight";
    if (is_vocab) weight = used_rows(weight, options().vocab_size);
    weight.normal_(0, item.key().ends_with("c_proj.weight") ? residual : 0.02);
  }
}

torch::Tensor Gpt::forward(const torch::Tensor& tokens) { return logits(hidden(tokens)); }

torch::Tensor Gpt::next(const torch::Tensor& tokens) {
  return logits(hidden(tokens).select(1, -1));
}

torch::Tensor Gpt::hidden(const torch::Tensor& tokens) {
  check(tokens);
  const std::int64_t length = tokens.size(1);
  torch::Tensor x = torch::embedding(used_rows(wte_->weight, options().vocab_size), tokens);
  std::optional<Rotary::Turn> turn;
  if (rotary_) {
    turn = rotary_->turn(length, x);
  } else {
    x = x + wpe_->weight.narrow(0, 0, length);
  }
  x = torch::dropout(x, options().dropout, is_training());
  for (const auto& block : *blocks_) {
    x = static_cast<Block&>(*block).forward(x, turn ? &*turn : nullptr);
  }
  return ln_f_->forward(x);
}

torch::Tensor Gpt::logits(const torch::Tensor& hidden) const {
  const torch::Tensor& weight = lm_head_ ? lm_head_->weight : wte_->weight;
  return torch::linear(hidden, used_rows(weight, options().vocab_size));
}

void Gpt::check(const torch::Tensor& tokens) const {
  const bool fits = tokens.dim() == 2 && tokens.scalar_type() == torch::kLong &&
                    tokens.size(1) >= 1 && tokens.size(1) <= options().context;
  if (fits) return;
  throw fail(ErrorCode::mismatch, "gpt",
             "expected int64 tokens of shape [batch, 1 to {}] but received {} [{}]",
             options().context, c10::toString(tokens.scalar_type()),
             fmt::join(tokens.sizes(), ", "));
}

}  // namespace bcos::lab::models
