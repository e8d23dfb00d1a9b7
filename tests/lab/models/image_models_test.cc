#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "lab/models/layers.hpp"
#include "lab/models/make.hpp"
#include "lab/models/model.hpp"
#include "tests/lab/models/testing.hpp"

namespace bcos::lab::models {
namespace {

using torch::Tensor;

ModelOptions deit_tiny() {
  return {.kind = "vit",
          .layers = 12,
          .width = 192,
          .heads = 3,
          .image_size = 224,
          .classes = 1000,
          .patch = 16};
}

ModelOptions small_vit() {
  return {.kind = "vit", .layers = 3, .width = 16, .heads = 2, .image_size = 8, .patch = 4};
}

std::shared_ptr<Model> seeded(const ModelOptions& options) {
  torch::manual_seed(0);
  return make_model(options);
}

std::int64_t resnet_parameters(int depth) {
  return count_parameters(*make_model({.kind = "resnet", .depth = depth}));
}

TEST(ResNets, HaveTheParametersOfHeEtAl) {
  EXPECT_EQ(resnet_parameters(20), 269'722);
  EXPECT_EQ(resnet_parameters(32), 464'154);
  EXPECT_EQ(resnet_parameters(56), 853'018);
}

TEST(DeitTiny, Has5717416Parameters) {
  EXPECT_EQ(count_parameters(*make_model(deit_tiny())), 5'717'416);
}

TEST(AnMlp, HasTheParametersOfItsLayers) {
  const auto model = make_model({.kind = "mlp", .image_size = 28, .channels = 1});
  EXPECT_EQ(count_parameters(*model), 784 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10);
  const auto logistic = make_model({.kind = "mlp", .image_size = 28, .channels = 1, .hidden = {}});
  EXPECT_EQ(count_parameters(*logistic), 784 * 10 + 10);
}

TEST(EveryImageModel, GivesLogitsOfEveryClassAndLearnsEverywhere) {
  const std::vector<ModelOptions> all = {
      {.kind = "resnet", .depth = 8, .channels = 1, .classes = 7},
      {.kind = "vit",
       .layers = 2,
       .width = 16,
       .heads = 2,
       .channels = 1,
       .classes = 7,
       .patch = 8},
      {.kind = "mlp", .channels = 1, .classes = 7, .hidden = {16}}};
  for (const ModelOptions& options : all) {
    const auto model = seeded(options);
    const Tensor images = torch::randn({3, 1, 32, 32});
    EXPECT_EQ(model->forward(images).sizes(), (std::vector<std::int64_t>{3, 7})) << options.kind;
    const Tensor loss = model->loss(images, torch::tensor({0, 3, 6}, torch::kLong));
    EXPECT_EQ(loss.dim(), 0);
    loss.backward();
    for (const auto& item : model->named_parameters()) {
      ASSERT_TRUE(item.value().grad().defined()) << options.kind << ' ' << item.key();
      EXPECT_TRUE(item.value().grad().isfinite().all().item<bool>()) << item.key();
      EXPECT_GT(item.value().grad().abs().max().item<double>(), 0) << item.key();
    }
  }
}

TEST(EveryImageModel, RefusesOtherImages) {
  const auto vit = seeded(small_vit());
  EXPECT_EQ(
      message_of([&] { vit->forward(torch::zeros({2, 3, 8, 4})); }),
      "[vit] expected float images of shape [batch, 3, 8, 8] but received Float [2, 3, 8, 4]");
  const auto resnet = seeded({.kind = "resnet"});
  EXPECT_EQ(message_of([&] { resnet->forward(torch::zeros({2, 1, 32, 32})); }),
            "[resnet] expected float images of shape [batch, 3, any, any] but received Float [2, "
            "1, 32, 32]");
  EXPECT_NO_THROW(resnet->forward(torch::zeros({2, 3, 40, 24})));
  const auto mlp = seeded({.kind = "mlp"});
  EXPECT_THROW(mlp->forward(torch::zeros({2, 3, 32, 32}, torch::kByte)), Error) << "not scaled";
}

TEST(AResNet, WithSilentBranchesIsItsShortcuts) {
  const auto model = seeded({.kind = "resnet", .classes = 64});
  const torch::NoGradGuard no_grad;
  auto parameters = model->named_parameters();
  for (auto& item : parameters) {
    if (item.key().ends_with("bn2.weight")) item.value().zero_();
  }
  parameters["linear.weight"].copy_(torch::eye(64));
  model->eval();
  const Tensor images = torch::randn({2, 3, 32, 32});
  const Tensor stem =
      (torch::conv2d(images, parameters["conv1.weight"], {}, 1, 1) / std::sqrt(1 + 1e-5)).relu();
  // Every fourth pixel of the 16 channels, between 8 + 16 channels of zeros.
  const Tensor means = stem.slice(2, 0, std::nullopt, 4).slice(3, 0, std::nullopt, 4).mean({2, 3});
  const Tensor logits = model->forward(images);
  EXPECT_TRUE(torch::allclose(logits.narrow(1, 24, 16), means, 1e-4, 1e-5));
  EXPECT_EQ(logits.narrow(1, 0, 24).abs().sum().item<double>(), 0);
  EXPECT_EQ(logits.narrow(1, 40, 24).abs().sum().item<double>(), 0);
}

TEST(AResNet, UsesTheBatchInTrainingAndItsAveragesInEvaluation) {
  const auto model = seeded({.kind = "resnet", .depth = 8});
  const torch::NoGradGuard no_grad;
  const Tensor images = torch::randn({4, 3, 16, 16}) + 1;
  const Tensor alone = images.narrow(0, 0, 1);
  const auto differs = [&] {
    const Tensor difference = model->forward(images)[0] - model->forward(alone)[0];
    return difference.abs().max().item<double>();
  };
  const Tensor mean = model->named_buffers()["bn1.running_mean"];
  const Tensor before = mean.clone();
  EXPECT_GT(differs(), 1e-2);
  EXPECT_FALSE(mean.equal(before));

  model->eval();
  const Tensor after = mean.clone();
  EXPECT_LT(differs(), 1e-4);
  EXPECT_TRUE(mean.equal(after));
}

TEST(AResNet, IsDrawnByFanIn) {
  const auto model = seeded({.kind = "resnet"});
  const auto parameters = model->named_parameters();
  EXPECT_NEAR(parameters["blocks.8.conv2.weight"].std().item<double>(), std::sqrt(2.0 / (64 * 9)),
              1e-3);
  EXPECT_EQ(parameters["linear.bias"].abs().max().item<double>(), 0);
}

TEST(AVit, IsDrawnWithinTwoDeviations) {
  const auto model = seeded(deit_tiny());
  const auto parameters = model->named_parameters();
  const Tensor weight = parameters["blocks.0.fc1.weight"];
  EXPECT_LE(weight.abs().max().item<double>(), 0.04 * (1 + 1e-5));
  EXPECT_GT(weight.abs().max().item<double>(), 0.039);
  EXPECT_NEAR(weight.std().item<double>(), 0.02 * 0.8796, 2e-4) << "of a normal cut there";
  EXPECT_EQ(parameters["patch_embed.bias"].abs().max().item<double>(), 0);
}

TEST(AVit, SeesWhereAPatchIs) {
  const auto model = seeded(small_vit());
  const torch::NoGradGuard no_grad;
  model->eval();
  const Tensor images = torch::randn({1, 3, 8, 8});
  const Tensor swapped = images.roll({4}, {3});
  auto parameters = model->named_parameters();
  for (auto& item : parameters) {
    if (item.value().dim() > 1) item.value().mul_(10);  // far from a linear network
  }
  const auto difference = [&] {
    return (model->forward(images) - model->forward(swapped)).abs().max().item<double>();
  };
  EXPECT_GT(difference(), 1e-3);
  parameters["pos_embed"].zero_();
  EXPECT_LT(difference(), 1e-4) << "without positions the patches are a set";
}

TEST(DropPath, DropsWholeSamplesAndScalesTheOthers) {
  torch::manual_seed(0);
  const Tensor branch = torch::ones({2000, 2, 3});
  const Tensor dropped = drop_path(branch, 0.25, true);
  const Tensor first = dropped.select(1, 0).select(1, 0);
  EXPECT_TRUE(dropped.equal(first.view({-1, 1, 1}).expand({-1, 2, 3}))) << "whole samples";
  EXPECT_TRUE(torch::logical_or(first == 0, (first - 4.0 / 3).abs() < 1e-6).all().item<bool>());
  EXPECT_NEAR(first.mean().item<double>(), 1, 0.06);
  EXPECT_TRUE(drop_path(branch, 0.25, false).equal(branch));
  EXPECT_TRUE(drop_path(branch, 0, true).equal(branch));
}

TEST(DropPath, ActsInTrainingModeOnly) {
  ModelOptions options = small_vit();
  options.drop_path = 0.5;
  const auto model = seeded(options);
  const Tensor images = torch::randn({8, 3, 8, 8});
  EXPECT_FALSE(model->forward(images).equal(model->forward(images)));
  model->eval();
  EXPECT_TRUE(model->forward(images).equal(model->forward(images)));
  const auto without = seeded(small_vit());
  EXPECT_TRUE(model->forward(images).equal(without->forward(images)));
}

}  // namespace
}  // namespace bcos::lab::models
