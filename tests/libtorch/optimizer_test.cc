#include "bcos/optimizer.hpp"

#include <gtest/gtest.h>
#include <torch/nn.h>
#include <torch/optim/adamw.h>
#include <torch/serialize.h>

#include <filesystem>

#include "bcos/libtorch.h"
#include "tests/golden/optimizer_run.hpp"
#include "tests/huge_pages.hpp"
#include "tests/scratch.hpp"

namespace bcos::libtorch {
namespace {

using torch::Tensor;
using torch::optim::OptimizerParamGroup;

std::vector<Tensor> make_params(torch::TensorOptions options = {}) {
  torch::manual_seed(0);
  const std::vector<std::vector<std::int64_t>> shapes = {{5, 4}, {3}, {}, {2, 3, 4}};
  std::vector<Tensor> params;
  for (const auto& shape : shapes) {
    params.push_back(torch::randn(shape, options).set_requires_grad(true));
  }
  return params;
}

void give_gradients(const std::vector<Tensor>& params, std::int64_t seed) {
  torch::manual_seed(static_cast<std::uint64_t>(seed));
  for (const Tensor& p : params) p.mutable_grad() = torch::randn_like(p.detach());
}

void run(BCOS& optimizer, const std::vector<Tensor>& params, int steps, int first = 0) {
  for (int t = first; t < first + steps; ++t) {
    give_gradients(params, t);
    optimizer.step();
  }
}

void expect_close(const std::vector<Tensor>& a, const std::vector<Tensor>& b, double tolerance) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(torch::allclose(a[i], b[i], tolerance, tolerance)) << a[i] << b[i];
  }
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "nothing was thrown";
}

std::vector<BCOSOptions> every_kind() {
  return {BCOSOptions(0.01),
          BCOSOptions(0.01).simple(true),
          BCOSOptions(0.01).simple(true).beta_v(0.95),
          BCOSOptions(0.01).mode("m"),
          BCOSOptions(0.01).mode("m").beta_v(0.99).decoupled(false),
          BCOSOptions(0.01).mode("g"),
          BCOSOptions(0.01).start("first"),
          BCOSOptions(0.01).start("zero_corrected").eps(1e-8),
          BCOSOptions(0.01).blocks("row"),
          BCOSOptions(0.01).blocks("column").mode("m"),
          BCOSOptions(0.01).blocks("tensor").block_gain("sqrt"),
          BCOSOptions(0.01).maximize(true),
          BCOSOptions(0.01).max_norm(0.5)};
}

TEST(LibTorchBCOS, AgreesWithItsAtenFormOnEveryKindOfMethod) {
  for (const auto& [type, tolerance] :
       {std::pair{torch::kFloat32, 2e-5}, std::pair{torch::kFloat64, 1e-12}}) {
    for (const BCOSOptions& options : every_kind()) {
      const auto params = make_params(type), others = make_params(type);
      BCOS engine(params, options), aten(others, options);
      aten.use_engine(false);
      run(engine, params, 4);
      run(aten, others, 4);
      expect_close(params, others, tolerance);
    }
  }
}

TEST(LibTorchBCOS, GivesTheBitsOfTheEnginesOwnOptimizer) {
  const auto params = make_params();
  const auto copies = make_params();
  BCOS optimizer(params, BCOSOptions(0.01));
  bcos::Optimizer own(bcosw_c);
  std::vector<ParameterId> ids;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const Tensor x = copies[i].detach();
    ids.push_back(own.add(std::to_string(i), TensorView{x.data_ptr(), DType::f32,
                                                        Dims(x.sizes().data(), x.sizes().size())}));
  }
  for (int t = 0; t < 3; ++t) {
    give_gradients(params, t);
    optimizer.step();
    std::vector<ParameterGradient> gradients;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      gradients.emplace_back(ids[i], Gradient{.data = params[i].grad().data_ptr()});
    }
    own.step(0.01, gradients);
  }
  for (std::size_t i = 0; i < params.size(); ++i) EXPECT_TRUE(torch::equal(params[i], copies[i]));
  EXPECT_EQ(optimizer.last_report().elements, 48U);
}

TEST(LibTorchBCOS, KeepsTheOptionsOfEveryGroup) {
  const auto params = make_params();
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{params[0]},
                      std::make_unique<BCOSOptions>(BCOSOptions(0.1).weight_decay(0.5)));
  groups.emplace_back(std::vector<Tensor>{params[1]});
  BCOS optimizer(groups, BCOSOptions(0.01).weight_decay(0.0));
  optimizer.add_param_group(
      {{params[2]}, std::make_unique<BCOSOptions>(BCOSOptions(0.3).mode("g"))});
  const auto options = [&](std::size_t k) {
    return static_cast<BCOSOptions&>(optimizer.param_groups()[k].options());
  };
  EXPECT_EQ(options(0).lr(), 0.1);
  EXPECT_EQ(options(0).weight_decay(), 0.5);
  EXPECT_EQ(options(1).lr(), 0.01);
  EXPECT_EQ(options(1).weight_decay(), 0.0);
  EXPECT_EQ(options(2).mode(), "g");

  const Tensor before = params[0].detach().clone(), spared = params[1].detach().clone();
  for (int i = 0; i < 3; ++i) params[i].mutable_grad() = torch::zeros_like(params[i]);
  optimizer.step();
  EXPECT_TRUE(torch::allclose(params[0], before * 0.95));
  EXPECT_TRUE(torch::equal(params[1], spared));
}

TEST(LibTorchBCOS, CallsTheClosureWithGradientsOnAndReturnsItsLoss) {
  auto x = torch::ones({3}).set_requires_grad(true);
  BCOS optimizer({x}, BCOSOptions(0.1));
  const Tensor loss = optimizer.step([&] {
    optimizer.zero_grad();
    Tensor value = x.square().sum();
    value.backward();
    return value;
  });
  EXPECT_EQ(loss.item<float>(), 3.0F);
  EXPECT_LT(x[0].item<float>(), 1.0F);
}

TEST(LibTorchBCOS, SkipsParametersWithoutGradient) {
  const auto params = make_params();
  BCOS optimizer(params, BCOSOptions(0.1));
  const Tensor before = params[1].detach().clone();
  params[0].mutable_grad() = torch::ones_like(params[0]);
  optimizer.step();
  EXPECT_TRUE(torch::equal(params[1], before));
  EXPECT_EQ(optimizer.last_report().missing, 3U);
  EXPECT_EQ(optimizer.state().size(), 1U) << "what has no gradient needs no state";
  params[1].mutable_grad() = torch::ones_like(params[1]);
  optimizer.step();
  EXPECT_FALSE(torch::equal(params[1], before));
  EXPECT_EQ(optimizer.last_report().missing, 2U);
  EXPECT_EQ(optimizer.state().size(), 2U);
}

TEST(LibTorchBCOS, StepsStridedAndSixteenBitAndComplexParameters) {
  const Tensor base = torch::randn({6, 4});
  auto strided = base.clone().t().set_requires_grad(true);
  auto dense = base.t().contiguous().set_requires_grad(true);
  BCOS one({strided}, BCOSOptions(0.01).mode("m")), other({dense}, BCOSOptions(0.01).mode("m"));
  for (int t = 0; t < 3; ++t) {
    give_gradients({dense}, t);
    strided.mutable_grad() = dense.grad().t().contiguous().t();
    one.step();
    other.step();
  }
  EXPECT_TRUE(torch::equal(strided, dense));

  auto half = torch::zeros({4}, torch::kBFloat16).set_requires_grad(true);
  BCOS sixteen({half}, BCOSOptions(0.01));
  half.mutable_grad() = torch::tensor({1e-4F, -1e-4F, 1.0F, -1.0F}).to(torch::kBFloat16);
  sixteen.step();
  const auto& state = static_cast<BCOSParamState&>(*sixteen.state().at(half.unsafeGetTensorImpl()));
  EXPECT_EQ(state.m().scalar_type(), torch::kFloat32);
  EXPECT_TRUE(torch::allclose(half.to(torch::kFloat32),
                              torch::tensor({-0.01F, 0.01F, -0.01F, 0.01F}), 0.02, 0));

  auto pair = torch::zeros({2}, torch::kComplexFloat).set_requires_grad(true);
  BCOS complex({pair}, BCOSOptions(0.1).blocks("row").mode("g").start("first"));
  pair.mutable_grad() = torch::complex(torch::tensor({3.0F, 0.0F}), torch::tensor({4.0F, 2.0F}));
  complex.step();
  EXPECT_TRUE(torch::allclose(torch::view_as_real(pair.detach()),
                              torch::tensor({{-0.06F, -0.08F}, {0.0F, -0.1F}}), 1e-4, 1e-6));
}

TEST(LibTorchBCOS, GuardsAgainstBadGradientsInBothForms) {
  for (const bool engine : {true, false}) {
    const auto params = make_params();
    BCOS optimizer(params, BCOSOptions(0.1).guard("skip"));
    optimizer.use_engine(engine);
    give_gradients(params, 0);
    params[0].mutable_grad()[0][0] = std::numeric_limits<float>::quiet_NaN();
    const Tensor before = params[1].detach().clone();
    optimizer.step();
    EXPECT_TRUE(optimizer.last_report().skipped);
    EXPECT_TRUE(torch::equal(params[1], before));
    BCOS strict(params, BCOSOptions(0.1).guard("raise"));
    strict.use_engine(engine);
    EXPECT_NE(message_of([&] { strict.step(); }).find("nothing was changed"), std::string::npos);
  }
}

TEST(LibTorchBCOS, ResumesFromAnArchiveToTheBit) {
  for (const char* mode : {"c", "m"}) {
    const auto params = make_params();
    BCOS optimizer(params, BCOSOptions(0.01).mode(mode).weight_decay(0.2));
    run(optimizer, params, 2);
    torch::serialize::OutputArchive out;
    optimizer.save(out);
    std::stringstream file;
    out.save_to(file);
    std::vector<Tensor> copies;
    for (const Tensor& p : params) copies.push_back(p.detach().clone().set_requires_grad(true));
    BCOS resumed(copies, BCOSOptions(0.5).mode(mode));
    torch::serialize::InputArchive in;
    in.load_from(file);
    resumed.load(in);
    run(optimizer, params, 3, 2);
    run(resumed, copies, 3, 2);
    for (std::size_t i = 0; i < params.size(); ++i) EXPECT_TRUE(torch::equal(params[i], copies[i]));
  }
}

TEST(LibTorchBCOS, RefusesAnArchiveThatDoesNotFitAndChangesNothing) {
  const auto params = make_params();
  BCOS saved(params, BCOSOptions(0.01));
  run(saved, params, 2);
  torch::serialize::OutputArchive out;
  saved.save(out);
  std::stringstream file;
  out.save_to(file);
  const auto refused = [&](BCOS& optimizer) {
    file.seekg(0);
    torch::serialize::InputArchive in;
    in.load_from(file);
    return message_of([&] { optimizer.load(in); });
  };
  BCOS other_mode(params, BCOSOptions(0.01).mode("m"));
  EXPECT_NE(refused(other_mode).find("another method"), std::string::npos);
  EXPECT_TRUE(other_mode.state().empty());
  BCOS other_direction(params, BCOSOptions(0.01).mode("g"));
  EXPECT_NE(refused(other_direction).find("another method"), std::string::npos);
  auto shapes = make_params();
  shapes[0] = torch::zeros({7}).set_requires_grad(true);
  BCOS other_shape(shapes, BCOSOptions(0.5));
  EXPECT_NE(refused(other_shape).find("does not fit"), std::string::npos);
  EXPECT_TRUE(other_shape.state().empty());
  EXPECT_EQ(other_shape.param_groups()[0].options().get_lr(), 0.5);
}

struct Net : torch::nn::Module {
  torch::nn::Linear one{nullptr}, two{nullptr};
  Net() {
    torch::manual_seed(1);
    one = register_module("one", torch::nn::Linear(4, 8));
    two = register_module("two", torch::nn::Linear(8, 2));
  }
};

TEST(LibTorchBCOS, SharesFilesByName) {
  const auto path = bcos::testing::scratch_path("libtorch.safetensors");
  Net net, again;
  BCOS optimizer(net.parameters(), BCOSOptions(0.01).mode("m"));
  run(optimizer, net.parameters(), 2);
  optimizer.save_file(path, net.named_parameters());
  BCOS resumed(again.parameters(), BCOSOptions(0.01).mode("m"));
  for (std::size_t i = 0; i < net.parameters().size(); ++i) {
    const torch::NoGradGuard no_grad;
    again.parameters()[i].copy_(net.parameters()[i]);
  }
  resumed.load_file(path, again.named_parameters());
  run(optimizer, net.parameters(), 2, 2);
  run(resumed, again.parameters(), 2, 2);
  for (std::size_t i = 0; i < net.parameters().size(); ++i) {
    EXPECT_TRUE(torch::equal(net.parameters()[i], again.parameters()[i]));
  }
  BCOS other(again.parameters(), BCOSOptions(0.01));
  EXPECT_NE(message_of([&] { other.load_file(path, again.named_parameters()); }).find("method"),
            std::string::npos);
  EXPECT_TRUE(other.state().empty());
  EXPECT_NE(message_of([&] { other.save_file(path, BCOS::NamedParameters()); }).find("has no name"),
            std::string::npos);
  std::filesystem::remove(path);
}

/// The golden run, whose gradients are those of the engine's tests.
struct GoldenRun {
  torch::OrderedDict<std::string, Tensor> params;
  BCOS optimizer;

  GoldenRun() : params(make()), optimizer(groups(params)) {}

  static torch::OrderedDict<std::string, Tensor> make() {
    torch::OrderedDict<std::string, Tensor> made;
    made.insert("weight", torch::tensor(bcos::testing::golden_parameter(6)).reshape({2, 3}));
    made.insert("bias", torch::tensor(bcos::testing::golden_parameter(3)));
    for (auto& item : made) item.value().set_requires_grad(true);
    return made;
  }
  static std::vector<OptimizerParamGroup> groups(
      const torch::OrderedDict<std::string, Tensor>& params) {
    const BCOSOptions c(bcos::testing::kGoldenAlpha);
    const BCOSOptions m = BCOSOptions(bcos::testing::kGoldenAlpha).mode("m");
    return {OptimizerParamGroup({params["weight"]}, std::make_unique<BCOSOptions>(c)),
            OptimizerParamGroup({params["bias"]}, std::make_unique<BCOSOptions>(m))};
  }
  void step(std::uint64_t t) {
    for (auto& item : params) {
      const Tensor& p = item.value();
      const auto gradient = bcos::testing::golden_gradient(static_cast<std::size_t>(p.numel()), t);
      p.mutable_grad() = torch::tensor(gradient).reshape(p.sizes());
    }
    optimizer.step();
  }
};

TEST(LibTorchBCOS, WritesTheGoldenFileAndGoesOnFromIt) {
  using bcos::testing::kGoldenSteps;
  const auto path = bcos::testing::scratch_path("libtorch-golden.safetensors");
  GoldenRun run, resumed;
  for (std::uint64_t t = 0; t < kGoldenSteps; ++t) run.step(t);
  run.optimizer.save_file(path, run.params);
  EXPECT_EQ(bcos::testing::content(path), bcos::testing::content(BCOS_GOLDEN_OPTIMIZER));
  std::filesystem::remove(path);

  resumed.optimizer.load_file(BCOS_GOLDEN_OPTIMIZER, resumed.params);
  for (const auto& item : run.params) {
    const torch::NoGradGuard no_grad;
    resumed.params[item.key()].copy_(item.value());
  }
  run.step(kGoldenSteps);
  resumed.step(kGoldenSteps);
  for (const auto& item : run.params) {
    EXPECT_TRUE(torch::equal(item.value(), resumed.params[item.key()])) << item.key();
  }
}

TEST(LibTorchBCOS, RefusesWrongUse) {
  const auto params = make_params();
  const auto refused = [&](const BCOSOptions& options) {
    return message_of([&] { BCOS(params, options); });
  };
  EXPECT_NE(refused(BCOSOptions(-1)).find("Invalid learning rate: -1"), std::string::npos);
  EXPECT_NE(refused(BCOSOptions(1).beta(1)).find("beta"), std::string::npos);
  EXPECT_NE(refused(BCOSOptions(1).mode("x")).find("Invalid mode: 'x'"), std::string::npos);
  EXPECT_NE(refused(BCOSOptions(1).beta_v(0.9)).find("full estimator"), std::string::npos);
  EXPECT_NE(refused(BCOSOptions(1).mode("m").simple(true)).find("simple"), std::string::npos);
  EXPECT_NE(refused(BCOSOptions(1).guard("hope")).find("Invalid guard"), std::string::npos);
  EXPECT_NE(refused(BCOSOptions(1).start("warm")).find("Invalid start"), std::string::npos);
  EXPECT_NE(refused(BCOSOptions(1).blocks("diagonal")).find("diagonal"), std::string::npos);
  EXPECT_NE(message_of([&] { BCOS({params[0], params[0]}); }).find("more than one place"),
            std::string::npos);
  auto table = torch::nn::Embedding(torch::nn::EmbeddingOptions(4, 2).sparse(true));
  table(torch::tensor({1})).sum().backward();
  BCOS sparse(table->parameters());
  EXPECT_NE(message_of([&] { sparse.step(); }).find("sparse"), std::string::npos);
  BCOS elsewhere(params);
  auto x = params[0];
  x.mutable_grad() = torch::ones_like(x, torch::kMeta);
  EXPECT_NE(message_of([&] { elsewhere.step(); }).find("on meta"), std::string::npos);
  std::vector<torch::optim::OptimizerParamGroup> foreign;
  foreign.emplace_back(std::vector<Tensor>{params[0]},
                       std::make_unique<torch::optim::AdamWOptions>(0.1));
  EXPECT_NE(message_of([&] { BCOS{foreign}; }).find("expected BCOSOptions"), std::string::npos);
}

TEST(LibTorchBCOS, KeepsNoGradientsAfterAStep) {
  auto x = torch::zeros({100}).set_requires_grad(true);
  BCOS optimizer({x});
  x.mutable_grad() = torch::ones({100});
  const c10::weak_intrusive_ptr<c10::TensorImpl> gradient(x.grad().getIntrusivePtr());
  optimizer.step();
  optimizer.zero_grad();
  EXPECT_TRUE(gradient.expired());
}

TEST(LibTorchBCOS, StepsParametersWithAPendingSign) {
  auto x = torch::_neg_view(torch::zeros({2})).set_requires_grad(true);
  BCOS optimizer({x}, BCOSOptions(0.1).weight_decay(0.0));
  x.mutable_grad() = torch::ones({2});
  optimizer.step();
  EXPECT_NEAR(x[0].item<float>(), -0.1F, 1e-5F);
}

TEST(LibTorchBCOS, MakesStateByAZeroStepWithoutStarting) {
  for (const bool engine : {true, false}) {
    auto x = torch::ones({2}).set_requires_grad(true);
    BCOS optimizer({x}, BCOSOptions(0.0).start("first"));
    optimizer.use_engine(engine);
    x.mutable_grad() = torch::zeros({2});
    optimizer.step();
    auto& state = static_cast<BCOSParamState&>(*optimizer.state().at(x.unsafeGetTensorImpl()));
    EXPECT_EQ(state.step(), 0);
    EXPECT_TRUE(state.m().defined());
  }
}

/// Without eps a block is divided by its largest number, which may be below 0.
TEST(LibTorchBCOS, MomentumOfEitherSignOutlivesItsGradientsOnTorchsPath) {
  auto x = torch::zeros({2}).set_requires_grad(true);
  BCOS optimizer({x}, BCOSOptions(0.1).weight_decay(0.0).eps(0.0));
  optimizer.use_engine(false);
  x.mutable_grad() = torch::tensor({1.0F, -1.0F});
  optimizer.step();
  const Tensor before = x.detach().clone();
  x.mutable_grad() = torch::zeros({2});
  optimizer.step();
  EXPECT_LT(x[0].item<float>(), before[0].item<float>());
  EXPECT_GT(x[1].item<float>(), before[1].item<float>());
  EXPECT_EQ(x[0].item<float>(), -x[1].item<float>());
}

TEST(LibTorchBCOS, KeepsLargeStatesInHugePages) {
  using testing::kHugePage;
  if (!testing::huge_pages_show()) {
    GTEST_SKIP() << "this system has no huge pages, or does not list them";
  }
  const Tensor x = torch::ones(4 * kHugePage / sizeof(float)).set_requires_grad(true);
  BCOS optimizer({x}, BCOSOptions(0.1));
  run(optimizer, {x}, 1);
  auto& state = static_cast<BCOSParamState&>(*optimizer.state().at(x.unsafeGetTensorImpl()));
  EXPECT_GE(testing::marked_huge(state.m().data_ptr(), 4 * kHugePage), 3 * kHugePage);
}

TEST(LibTorchBCOS, StepsMixedTypesWithOneNorm) {
  const auto make = [] {
    torch::manual_seed(3);
    return std::vector<Tensor>{torch::randn({8}).set_requires_grad(true),
                               torch::randn({8}).to(torch::kBFloat16).set_requires_grad(true)};
  };
  const auto params = make(), others = make();
  BCOS mixed(params, BCOSOptions(0.01).max_norm(0.5)),
      aten(others, BCOSOptions(0.01).max_norm(0.5));
  aten.use_engine(false);
  run(mixed, params, 3);
  run(aten, others, 3);
  EXPECT_TRUE(torch::allclose(params[0], others[0], 1e-5, 1e-6));
  EXPECT_TRUE(torch::equal(params[1], others[1]));
  EXPECT_TRUE(mixed.last_report().clipped);
}

TEST(LibTorchBCOS, ReadsGradientsWithAPendingSign) {
  auto x = torch::zeros({1}).set_requires_grad(true);
  BCOS optimizer({x}, BCOSOptions(0.1).weight_decay(0.0));
  x.mutable_grad() = torch::_neg_view(torch::ones({1}));
  optimizer.step();
  EXPECT_NEAR(x.item<float>(), 0.1F, 1e-5F);
}

TEST(LibTorchBCOS, FollowsMemoryThatMoves) {
  auto x = torch::zeros({100}).set_requires_grad(true);
  BCOS optimizer({x}, BCOSOptions(0.1).weight_decay(0.0));
  x.mutable_grad() = torch::ones({100});
  optimizer.step();
  const float once = x[99].item<float>();
  x.set_data(x.detach().clone());
  optimizer.step();
  EXPECT_LT(x[99].item<float>(), once - 0.05F);
}

TEST(LibTorchBCOS, TakesOptionsThatChange) {
  for (const bool engine : {true, false}) {
    auto x = torch::zeros({1}).set_requires_grad(true);
    BCOS optimizer({x}, BCOSOptions(0.1));
    optimizer.use_engine(engine);
    x.mutable_grad() = torch::zeros({1});
    optimizer.step();
    static_cast<BCOSOptions&>(optimizer.param_groups()[0].options()).beta(0.5);
    x.mutable_grad() = torch::ones({1});
    optimizer.step();
    auto& state = static_cast<BCOSParamState&>(*optimizer.state().at(x.unsafeGetTensorImpl()));
    EXPECT_EQ(state.m().item<float>(), 0.5F);
  }
}

TEST(LibTorchBCOS, FollowsStridesThatChange) {
  auto x = torch::zeros({2, 2}).set_requires_grad(true);
  BCOS optimizer({x}, BCOSOptions(0.1).weight_decay(0.0));
  x.mutable_grad() = torch::zeros({2, 2});
  optimizer.step();
  x.set_data(x.detach().t());
  x.mutable_grad() = torch::tensor({{0.0F, 1.0F}, {0.0F, 0.0F}});
  optimizer.step();
  EXPECT_LT((x[0][1].item<float>()), -0.01F);
  EXPECT_EQ((x[1][0].item<float>()), 0);
}

TEST(LibTorchBCOS, ClipsByANormThatIsNaNOnBothPaths) {
  for (const bool engine : {true, false}) {
    auto x = torch::ones({2}).set_requires_grad(true);
    BCOS optimizer({x}, BCOSOptions(0.1).max_norm(1.0));
    optimizer.use_engine(engine);
    x.mutable_grad() = torch::tensor({std::numeric_limits<float>::quiet_NaN(), 100.0F});
    optimizer.step();
    EXPECT_TRUE(torch::isnan(x).all().item<bool>()) << engine;
  }
}

TEST(LibTorchBCOS, KeepsTheSquaresOfHugeGradientsOnBothPaths) {
  std::vector<Tensor> moved, squares;
  for (const bool engine : {true, false}) {
    auto x = torch::zeros({2}).set_requires_grad(true);
    BCOS optimizer({x}, BCOSOptions(0.1).mode("m").beta_v(0.5).weight_decay(0.0));
    optimizer.use_engine(engine);
    for (const float size : {1e17F, 3e38F, 1e17F}) {
      x.mutable_grad() = torch::tensor({size, -1.0F});
      optimizer.step();
      moved.push_back(x.detach().clone());
      auto& state = static_cast<BCOSParamState&>(*optimizer.state().at(x.unsafeGetTensorImpl()));
      EXPECT_TRUE(torch::isfinite(state.v()).all().item<bool>());
      squares.push_back(state.v().clone());
    }
  }
  for (std::size_t t = 0; t < 3; ++t) {
    EXPECT_TRUE(torch::allclose(moved[t], moved[t + 3], 1e-5)) << moved[t] << moved[t + 3];
    EXPECT_TRUE(torch::allclose(squares[t], squares[t + 3], 1e-5)) << squares[t] << squares[t + 3];
  }
}

TEST(LibTorchBCOS, RefusesAModelThatHasChangedItsType) {
  torch::nn::Linear model(3, 2);
  BCOS optimizer(model->parameters());
  model(torch::ones({4, 3})).sum().backward();
  optimizer.step();
  optimizer.zero_grad();
  model->to(torch::kFloat64);
  model(torch::ones({4, 3}, torch::kFloat64)).sum().backward();
  const std::string said = message_of([&] { optimizer.step(); });
  EXPECT_NE(said.find("it is Double now but its state is Float"), std::string::npos) << said;
}

TEST(LibTorchBCOS, BumpsTheVersionThatAutogradWatches) {
  auto x = torch::ones({2}).set_requires_grad(true);
  BCOS optimizer({x});
  const Tensor product = (x * x * x).sum();
  x.mutable_grad() = torch::ones({2});
  optimizer.step();
  EXPECT_THROW(product.backward(), c10::Error);
}

TEST(LibTorchBCOS, RefusesAnArchiveWithStepsThatNobodyTook) {
  for (const std::int64_t steps : {std::int64_t{-1}, (std::int64_t{1} << 62) + 1}) {
    const auto params = make_params();
    BCOS saved(params), other(params);
    run(saved, params, 1);
    static_cast<BCOSParamState&>(*saved.state().at(params[1].unsafeGetTensorImpl())).step(steps);
    torch::serialize::OutputArchive out;
    saved.save(out);
    std::stringstream file;
    out.save_to(file);
    torch::serialize::InputArchive in;
    in.load_from(file);
    const std::string said = message_of([&] { other.load(in); });
    EXPECT_NE(said.find(std::to_string(steps)), std::string::npos) << said;
    EXPECT_NE(said.find("nothing was changed"), std::string::npos) << said;
    EXPECT_TRUE(other.state().empty());
  }
}

}  // namespace
}  // namespace bcos::libtorch
