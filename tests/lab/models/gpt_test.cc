#include "lab/models/gpt.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "bcos/libtorch.h"
#include "lab/models/make.hpp"
#include "tests/lab/models/testing.hpp"

namespace bcos::lab::models {
namespace {

using torch::Tensor;

Gpt seeded(const ModelOptions& options) {
  torch::manual_seed(0);
  return Gpt(options);
}

Tensor some_tokens(const ModelOptions& options, std::int64_t batch = 2) {
  torch::manual_seed(1);
  return torch::randint(options.vocab_size, {batch, options.context}, torch::kLong);
}

TEST(Gpt2, Has124439808Parameters) {
  const auto model = make_model({});
  EXPECT_EQ(count_parameters(*model), 124'439'808);
}

TEST(TheDemoGpt, Has110912Parameters) {
  EXPECT_EQ(count_parameters(*make_model(demo_gpt())), 110'912);
}

TEST(Gpt, NamesItsParametersAsHuggingFaceDoes) {
  ModelOptions options = small_gpt();
  options.layers = 1;
  std::vector<std::string> names;
  for (const auto& item : Gpt(options).named_parameters()) names.push_back(item.key());
  const std::vector<std::string> expected = {"wte.weight",
                                             "wpe.weight",
                                             "h.0.ln_1.weight",
                                             "h.0.ln_1.bias",
                                             "h.0.attn.c_attn.weight",
                                             "h.0.attn.c_attn.bias",
                                             "h.0.attn.c_proj.weight",
                                             "h.0.attn.c_proj.bias",
                                             "h.0.ln_2.weight",
                                             "h.0.ln_2.bias",
                                             "h.0.mlp.c_fc.weight",
                                             "h.0.mlp.c_fc.bias",
                                             "h.0.mlp.c_proj.weight",
                                             "h.0.mlp.c_proj.bias",
                                             "ln_f.weight",
                                             "ln_f.bias"};
  EXPECT_EQ(names, expected);
}

TEST(Gpt, WithoutBiasesHasNone) {
  for (const auto& item : Gpt(demo_gpt()).named_parameters()) {
    EXPECT_FALSE(item.key().ends_with(".bias")) << item.key();
  }
}

TEST(Gpt, IsDrawnAsGpt2IsDrawn) {
  ModelOptions options = small_gpt();
  options.width = 256;
  options.layers = 8;
  const Gpt model = seeded(options);
  const auto parameters = model.named_parameters();
  const auto deviation = [&](const char* name) { return parameters[name].std().item<double>(); };
  EXPECT_NEAR(deviation("h.0.attn.c_attn.weight"), 0.02, 0.0004);
  EXPECT_NEAR(deviation("wte.weight"), 0.02, 0.002);
  EXPECT_NEAR(deviation("h.7.attn.c_proj.weight"), 0.005, 0.0001) << "0.02 / sqrt(2 * 8)";
  EXPECT_NEAR(deviation("h.0.mlp.c_proj.weight"), 0.005, 0.0001);
  EXPECT_TRUE((parameters["h.0.ln_1.weight"] == 1).all().item<bool>());
  EXPECT_TRUE((parameters["h.0.mlp.c_fc.bias"] == 0).all().item<bool>());
}

TEST(Gpt, IsDrawnFromTheSeedAlone) {
  const auto first = seeded(small_gpt()).parameters();
  const auto again = seeded(small_gpt()).parameters();
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(first[i].equal(again[i]));
}

TEST(AGptsLogits, DoNotDependOnLaterTokens) {
  for (const char* positions : {"learned", "rotary"}) {
    ModelOptions options = small_gpt();
    options.positions = positions;
    Gpt model = seeded(options);
    const Tensor tokens = some_tokens(options);
    Tensor changed = tokens.clone();
    changed.select(1, 5).add_(1).remainder_(options.vocab_size);
    const Tensor difference = (model.forward(tokens) - model.forward(changed)).abs().amax({0, 2});
    EXPECT_LT(difference.narrow(0, 0, 5).max().item<double>(), 1e-6) << positions;
    EXPECT_GT(difference.narrow(0, 5, 3).min().item<double>(), 1e-5) << positions;
  }
}

TEST(AGptsLogits, OfTheNextTokenAreTheLastOfAll) {
  Gpt model = seeded(small_gpt());
  const Tensor tokens = some_tokens(small_gpt());
  EXPECT_TRUE(torch::allclose(model.next(tokens), model.forward(tokens).select(1, -1), 0, 1e-6));
}

TEST(AGptsLoss, IsTheMeanOfMinusLogProbabilities) {
  Gpt model = seeded(small_gpt());
  const Tensor tokens = some_tokens(small_gpt());
  const Tensor targets = tokens.flip({0});
  const Tensor chosen = model.forward(tokens).log_softmax(-1).gather(-1, targets.unsqueeze(-1));
  EXPECT_NEAR(model.loss(tokens, targets).item<double>(), -chosen.mean().item<double>(), 1e-6);
  EXPECT_NEAR(model.loss(tokens, targets).item<double>(), std::log(11.0), 0.1)
      << "it knows nothing";
}

TEST(AGptsLoss, LeavesOutTargetsOfMinus100) {
  Gpt model = seeded(small_gpt());
  const Tensor tokens = some_tokens(small_gpt(), 1);
  Tensor targets = tokens.clone();
  targets.narrow(1, 3, 5).fill_(-100);
  EXPECT_NEAR(model.loss(tokens, targets).item<double>(),
              model.loss(tokens.narrow(1, 0, 3), tokens.narrow(1, 0, 3)).item<double>(), 1e-6);
}

TEST(TiedWeights, AreOneTensorThatCountsOnce) {
  ModelOptions options = small_gpt();
  Gpt tied = seeded(options);
  options.tied = false;
  Gpt untied = seeded(options);
  EXPECT_EQ(count_parameters(untied) - count_parameters(tied), 11 * 16);
  EXPECT_TRUE(untied.named_parameters().contains("lm_head.weight"));

  const auto gradient_of = [&](Gpt& model) {
    const Tensor tokens = torch::zeros({1, 4}, torch::kLong);
    model.loss(tokens, tokens).backward();
    return model.named_parameters()["wte.weight"].grad();
  };
  EXPECT_GT(gradient_of(tied)[5].abs().sum().item<double>(), 0) << "through the output layer";
  EXPECT_EQ(gradient_of(untied)[5].abs().sum().item<double>(), 0) << "token 5 was not read";
}

TEST(Dropout, ActsInTrainingModeOnly) {
  ModelOptions options = small_gpt();
  options.dropout = 0.5;
  Gpt model = seeded(options);
  const Tensor tokens = some_tokens(options);
  EXPECT_FALSE(model.forward(tokens).equal(model.forward(tokens)));
  {
    const EvalMode eval(model);
    EXPECT_TRUE(model.forward(tokens).equal(model.forward(tokens)));
    Gpt without = seeded(small_gpt());
    EXPECT_TRUE(model.forward(tokens).equal(without.forward(tokens)));
  }
  EXPECT_TRUE(model.is_training());
}

TEST(LabelSmoothing, ActsInTrainingModeOnly) {
  ModelOptions options = small_gpt();
  options.label_smoothing = 0.3;
  Gpt smooth = seeded(options);
  Gpt plain = seeded(small_gpt());
  const Tensor tokens = some_tokens(options);
  const double unsmoothed = plain.loss(tokens, tokens).item<double>();
  EXPECT_GT(std::abs(smooth.loss(tokens, tokens).item<double>() - unsmoothed), 1e-4);
  smooth.eval();
  EXPECT_EQ(smooth.loss(tokens, tokens).item<double>(), unsmoothed);
}

TEST(APaddedVocabulary, ChangesNeitherLogitsNorLoss) {
  ModelOptions options = small_gpt();
  Gpt plain = seeded(options);
  options.pad_vocab_to = 8;
  Gpt padded = seeded(options);
  EXPECT_EQ(padded.named_parameters()["wte.weight"].size(0), 16);
  const Tensor tokens = some_tokens(options);
  EXPECT_TRUE(plain.forward(tokens).equal(padded.forward(tokens)));
  padded.loss(tokens, tokens).backward();
  const Tensor unused = padded.named_parameters()["wte.weight"].grad().narrow(0, 11, 5);
  EXPECT_EQ(unused.abs().sum().item<double>(), 0);
  EXPECT_THROW(padded.forward(torch::full({1, 1}, 11, torch::kLong)), c10::Error) << "not a token";
}

TEST(Gpt, RefusesWhatAreNoTokens) {
  Gpt model = seeded(small_gpt());
  EXPECT_EQ(message_of([&] { model.forward(torch::zeros({2, 9}, torch::kLong)); }),
            "[gpt] expected int64 tokens of shape [batch, 1 to 8] but received Long [2, 9]");
  EXPECT_THROW(model.forward(torch::zeros({2, 8})), Error);
  EXPECT_THROW(model.forward(torch::zeros({8}, torch::kLong)), Error);
  EXPECT_THROW(model.forward(torch::zeros({2, 0}, torch::kLong)), Error);
}

TEST(RotaryPositions, EnterProductsAsDistancesAlone) {
  torch::manual_seed(0);
  const Rotary rotary(32, 8);
  const Tensor query = torch::randn({1, 1, 1, 8}, torch::kDouble);
  const Tensor key = torch::randn({1, 1, 1, 8}, torch::kDouble);
  const auto product = [&](std::int64_t at_query, std::int64_t at_key) {
    const Tensor q = rotated(query, rotary.turn(1, query, at_query));
    const Tensor k = rotated(key, rotary.turn(1, key, at_key));
    return (q * k).sum().item<double>();
  };
  EXPECT_NEAR(product(7, 3), product(31, 27), 1e-12);
  EXPECT_NEAR(product(5, 5), (query * key).sum().item<double>(), 1e-12);
  EXPECT_GT(std::abs(product(7, 3) - product(7, 4)), 1e-3);
}

TEST(RotaryPositions, DifferFromLearnedOnes) {
  ModelOptions options = small_gpt();
  Gpt learned = seeded(options);
  options.positions = "rotary";
  Gpt rotary = seeded(options);
  EXPECT_EQ(count_parameters(learned) - count_parameters(rotary), 8 * 16);

  // With one token everywhere only absolute positions tell two places apart.
  const Tensor constant = torch::full({1, 8}, 3, torch::kLong);
  const auto spread = [&](Gpt& model) {
    const Tensor logits = model.forward(constant)[0];
    return (logits - logits[0]).abs().max().item<double>();
  };
  EXPECT_LT(spread(rotary), 1e-6);
  EXPECT_GT(spread(learned), 1e-3);
}

TEST(RotaryPositions, TellTheOrderOfEarlierTokens) {
  ModelOptions options = small_gpt();
  options.layers = 1;
  options.positions = "rotary";
  Gpt model = seeded(options);
  {
    // At the first weights attention is nearly uniform and hardly sees where tokens are.
    const torch::NoGradGuard no_grad;
    model.named_parameters()["h.0.attn.c_attn.weight"].mul_(20);
  }
  const Tensor one = torch::tensor({{1, 2, 3, 4}}, torch::kLong);
  const Tensor other = torch::tensor({{3, 2, 1, 4}}, torch::kLong);
  const Tensor difference = model.next(one) - model.next(other);
  EXPECT_GT(difference.abs().max().item<double>(), 1e-5);
}

TEST(AGpt, LearnsARepeatingTextWithBcos) {
  const std::string text = "the quick brown fox jumps over the lazy dog; ";
  std::vector<std::int64_t> bytes;
  while (bytes.size() < 500) bytes.insert(bytes.end(), text.begin(), text.end());
  const Tensor stream = torch::tensor(bytes, torch::kLong);

  const ModelOptions options = {.layers = 1,
                                .width = 48,
                                .heads = 2,
                                .context = 32,
                                .activation = "relu",
                                .bias = false,
                                .vocab_size = 128};
  Gpt model = seeded(options);
  libtorch::BCOS optimizer(model.parameters(),
                           libtorch::BCOSOptions(0.004).start("zero").max_norm(1.0));
  double loss_value = 0;
  for (int step = 0; step < 150; ++step) {
    std::vector<Tensor> inputs;
    std::vector<Tensor> targets;
    const Tensor starts = torch::randint(400, {8}, torch::kLong);
    for (std::int64_t i = 0; i < 8; ++i) {
      const auto start = starts[i].item<std::int64_t>();
      inputs.push_back(stream.narrow(0, start, 32));
      targets.push_back(stream.narrow(0, start + 1, 32));
    }
    optimizer.zero_grad();
    const Tensor loss = model.loss(torch::stack(inputs), torch::stack(targets));
    loss.backward();
    optimizer.step();
    loss_value = loss.item<double>();
    if (step == 0) {
      EXPECT_NEAR(loss_value, std::log(128.0), 0.2);
    }
  }
  EXPECT_LT(loss_value, 0.2);
}

}  // namespace
}  // namespace bcos::lab::models
