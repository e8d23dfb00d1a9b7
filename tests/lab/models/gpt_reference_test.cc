#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <map>
#include <numbers>

#include "lab/models/gpt.hpp"
#include "tests/lab/models/testing.hpp"

namespace bcos::lab::models {
namespace {

using Vector = std::vector<double>;
using Rows = std::vector<Vector>;

/// A GPT in plain loops over doubles, from nothing but named numbers.
class PlainGpt {
 public:
  PlainGpt(ModelOptions options, std::map<std::string, Vector> weights)
      : options_(std::move(options)), weights_(std::move(weights)) {}

  Rows logits(const std::vector<std::int64_t>& tokens) const {
    Rows x;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      x.push_back(row("wte.weight", static_cast<std::size_t>(tokens[t])));
      if (options_.positions == "learned") add(x.back(), row("wpe.weight", t));
    }
    for (int layer = 0; layer < options_.layers; ++layer) {
      const std::string block = "h." + std::to_string(layer);
      const Rows mixed = attention(block + ".attn", normed(block + ".ln_1", x));
      for (std::size_t t = 0; t < x.size(); ++t) {
        add(x[t], mixed[t]);
        add(x[t], feedforward(block + ".mlp", normed(block + ".ln_2", x[t])));
      }
    }
    Rows result;
    for (const Vector& last : x) {
      Vector out = linear(options_.tied ? "wte" : "lm_head", normed("ln_f", last));
      out.resize(static_cast<std::size_t>(options_.vocab_size));
      result.push_back(out);
    }
    return result;
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(options_.width); }

  static void add(Vector& x, const Vector& y) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }

  Vector row(const std::string& name, std::size_t index) const {
    const Vector& table = weights_.at(name);
    Vector result(width());
    for (std::size_t i = 0; i < width(); ++i) result[i] = table[index * width() + i];
    return result;
  }

  Vector linear(const std::string& name, const Vector& x) const {
    const Vector& weight = weights_.at(name + ".weight");
    Vector y(weight.size() / x.size());
    for (std::size_t o = 0; o < y.size(); ++o) {
      for (std::size_t i = 0; i < x.size(); ++i) y[o] += weight[o * x.size() + i] * x[i];
    }
    if (weights_.contains(name + ".bias")) add(y, weights_.at(name + ".bias"));
    return y;
  }

  Vector normed(const std::string& name, const Vector& x) const {
    const auto size = static_cast<double>(x.size());
    double mean = 0;
    double variance = 0;
    for (const double value : x) mean += value / size;
    for (const double value : x) variance += (value - mean) * (value - mean) / size;
    Vector y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] = (x[i] - mean) / std::sqrt(variance + 1e-5) * weights_.at(name + ".weight")[i];
    }
    if (weights_.contains(name + ".bias")) add(y, weights_.at(name + ".bias"));
    return y;
  }

  Rows normed(const std::string& name, const Rows& x) const {
    Rows y;
    for (const Vector& one : x) y.push_back(normed(name, one));
    return y;
  }

  Vector feedforward(const std::string& name, const Vector& x) const {
    Vector inner = linear(name + ".c_fc", x);
    for (double& u : inner) {
      const double cubic = std::sqrt(2 / std::numbers::pi) * (u + 0.044715 * u * u * u);
      u = options_.activation == "relu" ? std::max(u, 0.0) : 0.5 * u * (1 + std::tanh(cubic));
    }
    return linear(name + ".c_proj", inner);
  }

  /// A head's part of a query or key, turned by its position.
  Vector turned(const Vector& head, std::size_t position) const {
    if (options_.positions != "rotary") return head;
    const std::size_t half = head.size() / 2;
    Vector result(head.size());
    for (std::size_t i = 0; i < half; ++i) {
      const double power = -2.0 * static_cast<double>(i) / static_cast<double>(head.size());
      const double angle = static_cast<double>(position) * std::pow(10000.0, power);
      result[i] = head[i] * std::cos(angle) - head[i + half] * std::sin(angle);
      result[i + half] = head[i + half] * std::cos(angle) + head[i] * std::sin(angle);
    }
    return result;
  }

  Rows attention(const std::string& name, const Rows& x) const {
    const auto heads = static_cast<std::size_t>(options_.heads);
    const std::size_t size = width() / heads;
    Rows qkv;
    for (const Vector& one : x) qkv.push_back(linear(name + ".c_attn", one));
    const auto part = [&](std::size_t t, std::size_t which, std::size_t head) {
      const auto begin =
          qkv[t].begin() + static_cast<std::ptrdiff_t>(which * width() + head * size);
      return Vector(begin, begin + static_cast<std::ptrdiff_t>(size));
    };
    Rows result;
    for (std::size_t t = 0; t < x.size(); ++t) {
      Vector mixed(width());
      for (std::size_t head = 0; head < heads; ++head) {
        const Vector query = turned(part(t, 0, head), t);
        Vector weight(t + 1);
        double sum = 0;
        for (std::size_t s = 0; s <= t; ++s) {
          const Vector key = turned(part(s, 1, head), s);
          double product = 0;
          for (std::size_t i = 0; i < size; ++i) product += query[i] * key[i];
          weight[s] = std::exp(product / std::sqrt(static_cast<double>(size)));
          sum += weight[s];
        }
        for (std::size_t s = 0; s <= t; ++s) {
          const Vector value = part(s, 2, head);
          for (std::size_t i = 0; i < size; ++i)
            mixed[head * size + i] += weight[s] / sum * value[i];
        }
      }
      result.push_back(linear(name + ".c_proj", mixed));
    }
    return result;
  }

  ModelOptions options_;
  std::map<std::string, Vector> weights_;
};

void expect_plain_logits(const ModelOptions& options) {
  torch::manual_seed(0);
  Gpt model(options);
  model.to(torch::kDouble);
  std::map<std::string, Vector> weights;
  for (auto& item : model.named_parameters()) {
    const torch::NoGradGuard no_grad;
    torch::Tensor value = item.value();
    value.uniform_(-0.7, 0.7);  // gains and biases too, so that each of them shows
    weights[item.key()] =
        Vector(value.data_ptr<double>(), value.data_ptr<double>() + value.numel());
  }
  const std::vector<std::int64_t> tokens = {3, 1, 4, 1, 5, 9, 2, 6};
  const Rows expected = PlainGpt(options, weights).logits(tokens);
  const torch::Tensor logits = model.forward(torch::tensor(tokens, torch::kLong).unsqueeze(0));
  ASSERT_EQ(logits.sizes(), (std::vector<std::int64_t>{1, 8, options.vocab_size}));
  const auto received = logits.accessor<double, 3>();
  for (std::size_t t = 0; t < expected.size(); ++t) {
    for (std::size_t v = 0; v < expected[t].size(); ++v) {
      EXPECT_NEAR(received[0][static_cast<std::int64_t>(t)][static_cast<std::int64_t>(v)],
                  expected[t][v], 1e-10)
          << t << ", " << v;
    }
  }
}

TEST(TheLogitsOfAGpt, AreThoseOfPlainLoops) { expect_plain_logits(small_gpt()); }

TEST(TheLogitsOfAGpt, AreThoseOfPlainLoopsWithReluAndNoBiases) {
  ModelOptions options = small_gpt();
  options.activation = "relu";
  options.bias = false;
  expect_plain_logits(options);
}

TEST(TheLogitsOfAGpt, AreThoseOfPlainLoopsWithRotaryPositionsAndItsOwnHead) {
  ModelOptions options = small_gpt();
  options.positions = "rotary";
  options.tied = false;
  options.pad_vocab_to = 4;
  expect_plain_logits(options);
}

}  // namespace
}  // namespace bcos::lab::models
