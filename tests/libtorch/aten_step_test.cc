#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "bcos/methods.hpp"
#include "bcos/update.hpp"
#include "libtorch/aten_backend.hpp"
#include "libtorch/tensors.hpp"

namespace bcos::libtorch {
namespace {

using at::Tensor;

/// A parameter with the states that a method keeps.
struct Stepped {
  Tensor x, m, v;
};

Stepped begun(const Method& method, const Tensor& x) {
  const StateKinds kinds = state_kinds(method);
  Stepped result{x.clone(), {}, {}};
  if (kinds.m) result.m = at::zeros_like(x);
  const auto blocks = static_cast<std::int64_t>(
      block_count(method.blocks, Dims(x.sizes().data(), x.sizes().size())));
  if (kinds.v) result.v = at::zeros({blocks}, x.options());
  return result;
}

using Step = void (*)(const Method&, double, std::uint64_t, const Tensor&, const Stepped&);

void step_in_aten(const Method& method, double alpha, std::uint64_t t, const Tensor& gradient,
                  const Stepped& on) {
  aten_step(method, step_numbers(method, alpha, t, 1), on.x, gradient, on.m, on.v);
}

void step_in_engine(const Method& method, double alpha, std::uint64_t t, const Tensor& gradient,
                    const Stepped& on) {
  const Parameter parameter{.x = view_of(on.x), .m = view_of(on.m), .v = view_of(on.v)};
  const Gradient given{.data = gradient.data_ptr()};
  update({&method, 1}, {&parameter, 1}, {&given, 1}, {&alpha, 1}, {&t, 1});
}

/// Where a parameter at 0 gets to in a step without gradient and with alpha 1, given its m and one
/// v for all.
Tensor coasted(const Method& method, const Tensor& m, double v, Step step = step_in_aten) {
  const Stepped on = begun(method, at::zeros_like(m));
  on.m.copy_(m);
  on.v.fill_(v);
  step(method, 1, 5, at::zeros_like(m), on);
  return on.x;
}

Method bare_adam() {
  Method method = adam;
  method.eps = 0;
  return method;
}

Method adam_on_one_block(BlockGain gain) {
  Method method = bare_adam();
  method.blocks = Blocks::of(Layout::tensor);
  method.block_gain = gain;
  return method;
}

TEST(AtenStep, DecaysAsMuchAsIsAskedFor) {
  Method method = sgd;
  method.decay = Decay::decoupled;
  for (const double delta : {2e-8, 4e-8, 1e-7, 1e-6}) {
    method.lambda = delta * 0x1p10;
    at::manual_seed(0);
    const Tensor x = 1 + at::rand({1 << 20});
    const Tensor g = at::randn({1 << 20});
    const Stepped on = begun(method, x);
    step_in_aten(method, 0x1p-10, 0, g, on);
    const Tensor done = x.to(at::kDouble) - g.to(at::kDouble) * 0x1p-10 - on.x.to(at::kDouble);
    EXPECT_NEAR((done.sum() / (x.sum(at::kDouble) * delta)).item<double>(), 1, 0.01) << delta;
  }
}

TEST(AtenStep, GivesTheEnginesBitsWhereRootsDoNotRound) {
  for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
    for (Method method : {sgd, sign_sgd, sign_momentum}) {
      for (const Decay decay : {Decay::none, Decay::decoupled}) {
        method.decay = decay;
        method.lambda = decay == Decay::none ? 0 : 0.1;
        at::manual_seed(0);
        const Tensor x = at::randn({1000}, type);
        const Stepped aten = begun(method, x), engine = begun(method, x);
        for (std::uint64_t t = 0; t < 5; ++t) {
          const Tensor g = at::randn({1000}, type);
          step_in_aten(method, 0.01, t, g, aten);
          step_in_engine(method, 0.01, t, g, engine);
        }
        EXPECT_TRUE(at::equal(aten.x, engine.x));
      }
    }
  }
}

TEST(AtenStep, GoesAlongTheDirectionWhereVHasVanishedAsTheEngineDoes) {
  for (const Step step : {step_in_aten, step_in_engine}) {
    const Tensor signs = coasted(bare_adam(), at::tensor({0.5F, -3.0F, 0.0F}), 0, step);
    EXPECT_TRUE(at::equal(signs, at::tensor({-1.0F, 1.0F, 0.0F}))) << signs;
    for (const auto& [gain, length] :
         {std::pair{BlockGain::one, 1.0}, std::pair{BlockGain::sqrt, std::sqrt(2.0)}}) {
      const Tensor along = coasted(adam_on_one_block(gain), at::tensor({3.0F, -4.0F}), 0, step);
      EXPECT_TRUE(at::allclose(along, length * at::tensor({-0.6F, 0.8F}))) << along;
    }
  }
}

TEST(AtenStep, HasARatioWhereVVanishesButTheGradientDoesNot) {
  Method method = bare_adam();
  method.start = Start::zero;
  for (const Layout layout : {Layout::coordinate, Layout::tensor}) {
    method.blocks = Blocks::of(layout);
    for (const Step step : {step_in_aten, step_in_engine}) {
      const Stepped on = begun(method, at::zeros({1}));
      step(method, 1, 5, at::full({1}, 1e-30F), on);
      EXPECT_NEAR(on.x.item<float>(), -0.1F / std::sqrt(0.001F), 1e-5F);
    }
  }
}

TEST(AtenStep, DividesByEpsWhereVHasVanished) {
  Method method = bare_adam();
  method.eps = 0.125;
  method.start = Start::zero;
  const Tensor x = coasted(method, at::tensor({0.5F, 0.0F}), 0);
  EXPECT_TRUE(at::allclose(x, at::tensor({-3.6F, 0.0F}))) << x;
}

TEST(AtenStep, AmplifiesNoDirectionMoreThanIsAllowed) {
  const Tensor m = at::tensor({3e12F, -4e12F});
  for (const double v : {1e-28, 1e-33, 1e-40}) {
    const Tensor single = coasted(bare_adam(), m, v);
    EXPECT_TRUE(at::allclose(single, at::tensor({-1e20F, 1e20F}))) << v << single;
    for (const auto& [gain, length] :
         {std::pair{BlockGain::one, 1e20}, std::pair{BlockGain::sqrt, std::sqrt(2.0) * 1e20}}) {
      const Tensor along = coasted(adam_on_one_block(gain), m, v);
      EXPECT_TRUE(at::allclose(along, length * at::tensor({-0.6F, 0.8F}))) << v << along;
    }
  }
}

TEST(AtenStep, IsNotHeldBackByAMomentumThatDoesNotCount) {
  for (Method method : {bcos_c, bcos_m, adam, sign_momentum}) {
    for (const Layout layout : {Layout::coordinate, Layout::tensor}) {
      method.blocks = Blocks::of(layout);
      method.beta = method.eps = method.eps_root = 0;
      const Tensor g = at::full({2}, 1e-10F);
      const Stepped with = begun(method, at::zeros({2})), without = begun(method, at::zeros({2}));
      with.m.fill_(1e38);
      step_in_aten(method, 1, 5, g, with);
      step_in_aten(method, 1, 5, g, without);
      EXPECT_TRUE(at::equal(with.x, without.x)) << with.x << without.x;
      EXPECT_LT(without.x.max().item<float>(), -0.5F);
    }
  }
}

TEST(AtenStep, ReadsTheMomentumOfAdamSAtBetaZeroToo) {
  Method method = adams;
  method.beta = 0;
  for (const Step step : {step_in_aten, step_in_engine}) {
    const Stepped on = begun(method, at::zeros({1}));
    on.m.fill_(3);
    step(method, 1, 5, at::ones({1}), on);
    EXPECT_NEAR(on.x.item<float>(), -1 / std::sqrt(0.95 * 9 + 0.05), 1e-6);
  }
}

}  // namespace
}  // namespace bcos::libtorch
