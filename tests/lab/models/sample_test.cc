#include "lab/models/sample.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "lab/models/gpt.hpp"
#include "tests/lab/models/testing.hpp"

namespace bcos::lab::models {
namespace {

using Tokens = std::vector<std::int64_t>;

/// Opinionated: its tokens are far from equally likely.
Gpt opinionated(ModelOptions options = small_gpt()) {
  torch::manual_seed(0);
  Gpt model(options);
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : model.parameters()) parameter.normal_(0, 0.4);
  return model;
}

torch::Tensor next_logits(Gpt& model, const Tokens& tokens) {
  const torch::NoGradGuard no_grad;
  const EvalMode eval(model);
  return model.next(torch::tensor(tokens, torch::kLong).unsqueeze(0))[0];
}

TEST(Sampling, IsAFunctionOfTheSeed) {
  Gpt model = opinionated();
  const Tokens first = sample(model, {1, 2}, 20, 1, 0, 7);
  EXPECT_EQ(first.size(), 20U);
  EXPECT_EQ(sample(model, {1, 2}, 20, 1, 0, 7), first);
  EXPECT_NE(sample(model, {1, 2}, 20, 1, 0, 8), first);
}

TEST(Sampling, LeavesTorchsGeneratorAndTheModeAlone) {
  ModelOptions options = small_gpt();
  options.dropout = 0.5;
  Gpt model = opinionated(options);
  torch::manual_seed(3);
  const torch::Tensor expected = torch::rand({4});
  torch::manual_seed(3);
  const Tokens first = sample(model, {1}, 20, 1, 0, 7);
  EXPECT_TRUE(torch::rand({4}).equal(expected));
  EXPECT_EQ(sample(model, {1}, 20, 1, 0, 7), first) << "no dropout";
  EXPECT_TRUE(model.is_training());
  model.eval();
  sample(model, {1}, 1, 1, 0, 7);
  EXPECT_FALSE(model.is_training());
}

TEST(Sampling, OfTheOneLikeliestIsArgmax) {
  Gpt model = opinionated();
  Tokens tokens = {4};
  for (int i = 0; i < 6; ++i) {
    tokens.push_back(next_logits(model, tokens).argmax().item<std::int64_t>());
  }
  const Tokens expected(tokens.begin() + 1, tokens.end());
  EXPECT_EQ(sample(model, {4}, 6, 1, 1, 0), expected);
  EXPECT_EQ(sample(model, {4}, 6, 0, 0, 0), expected) << "temperature 0";
  EXPECT_EQ(sample(model, {4}, 6, 1e-300, 0, 0), expected) << "a temperature of next to nothing";
}

TEST(Sampling, StaysAmongTheLikeliest) {
  Gpt model = opinionated();
  const torch::Tensor best = std::get<1>(next_logits(model, {4}).topk(2));
  bool saw_first = false;
  bool saw_second = false;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::int64_t token = sample(model, {4}, 1, 3, 2, seed).front();
    saw_first = saw_first || token == best[0].item<std::int64_t>();
    saw_second = saw_second || token == best[1].item<std::int64_t>();
    EXPECT_TRUE((best == token).any().item<bool>()) << token;
  }
  EXPECT_TRUE(saw_first && saw_second);
}

TEST(Sampling, FollowsTheProbabilitiesAtTheTemperature) {
  Gpt model = opinionated();
  constexpr int kDraws = 2000;
  const double temperature = 1.5;
  const torch::Tensor expected = (next_logits(model, {4}) / temperature).softmax(0);
  torch::Tensor seen = torch::zeros({11});
  for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
    seen[sample(model, {4}, 1, temperature, 0, seed).front()] += 1.0 / kDraws;
  }
  EXPECT_LT((seen - expected).abs().max().item<double>(), 4 * std::sqrt(0.25 / kDraws));
  EXPECT_GT(expected.max().item<double>(), 0.2) << "else this test says little";
}

TEST(Sampling, SeesTheLastTokensThatFit) {
  Gpt model = opinionated();
  const Tokens tail = {1, 2, 3, 4, 5, 6, 7, 8};
  Tokens prompt = {9, 9, 9};
  prompt.insert(prompt.end(), tail.begin(), tail.end());
  EXPECT_EQ(sample(model, prompt, 10, 1, 0, 5), sample(model, tail, 10, 1, 0, 5));
}

TEST(Sampling, RefusesWhatItCannotContinue) {
  Gpt model = opinionated();
  const auto refusal = [&](const Tokens& prompt, std::int64_t count, double temperature,
                           int top_k) {
    return message_of([&] { sample(model, prompt, count, temperature, top_k, 0); });
  };
  EXPECT_EQ(refusal({}, 1, 1, 0), "[sample] expected a prompt of at least 1 token but received 0");
  EXPECT_EQ(refusal({11}, 1, 1, 0), "[sample] expected tokens from 0 to 10 but received 11");
  EXPECT_EQ(refusal({1}, -1, 1, 0), "[sample] expected count >= 0 but received -1");
  EXPECT_EQ(refusal({1}, 1, -1, 0), "[sample] expected a finite temperature >= 0 but received -1");
  EXPECT_EQ(refusal({1}, 1, 1, -1), "[sample] expected top_k >= 0 but received -1");
  EXPECT_EQ(sample(model, {1}, 0, 1, 0, 0), Tokens());
}

TEST(Sampling, OfADivergedModelSaysSo) {
  Gpt model = opinionated();
  const torch::NoGradGuard no_grad;
  model.named_parameters()["ln_f.bias"].fill_(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(message_of([&] { sample(model, {1}, 1, 1, 0, 0); }),
            "[sample] expected finite logits but received NaN or infinity at token 0: the model "
            "has diverged");
}

}  // namespace
}  // namespace bcos::lab::models
