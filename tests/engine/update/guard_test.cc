#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bcos/error.hpp"
#include "bcos/methods.hpp"
#include "bcos/text.hpp"
#include "engine/update/block_shape.hpp"
#include "tests/engine/bits.hpp"
#include "tests/engine/random_numbers.hpp"
#include "tests/engine/stepper.hpp"

/// Clipping, the guard, scaling, and how states begin.
namespace bcos::testing {
namespace {

TEST(Clipping, ScalesGradientsByTorchsConvention) {
  Stepper<double> clipped(bcosw_c, {1, 2}), scaled(bcosw_c, {1, 2});
  const auto report = clipped.step({3, 4}, 0.1, {.max_norm = 0.5});
  const double factor = 0.5 / (5 + 1e-6);
  scaled.step({3 * factor, 4 * factor}, 0.1);
  EXPECT_EQ(*report.norm, 5);
  EXPECT_TRUE(report.clipped);
  EXPECT_TRUE(same_bits(clipped.everything(), scaled.everything()));

  const auto below = clipped.step({0.3, 0.4}, 0.1, {.max_norm = 0.51});
  EXPECT_FALSE(below.clipped);
  EXPECT_NEAR(*below.norm, 0.5, 1e-15);
}

TEST(Clipping, MeasuresTheNormOverTheWholeCallAndLeavesTheCallersGradientAlone) {
  std::vector<float> x[2] = {{1}, {2}}, m[2] = {{0}, {0}};
  const std::vector<float> g[2] = {{3}, {4}};
  const std::int64_t one[] = {1};
  std::vector<Parameter> parameters(2);
  std::vector<Gradient> gradients(2);
  for (std::size_t i = 0; i < 2; ++i) {
    parameters[i].x = {x[i].data(), DType::f32, one, {}};
    parameters[i].m = {m[i].data(), DType::f32, one, {}};
    gradients[i].data = g[i].data();
  }
  std::uint64_t steps[] = {0, 0};
  const double alpha = 0.1;
  const auto report =
      update({&bcosw_c, 1}, parameters, gradients, {&alpha, 1}, steps, {.max_norm = 1.0});
  EXPECT_EQ(*report.norm, 5);
  EXPECT_NEAR(m[0][0], 0.1 * 3 / 5, 1e-7);
  EXPECT_EQ(g[0][0], 3);
}

TEST(Clipping, IsExactForNormsWhoseSquaresOverflow) {
  Stepper<double> stepper(bcosw_c, {1, 2});
  const auto report = stepper.step({3e200, 4e200}, 0.1, {.max_norm = 1.0});
  EXPECT_NEAR(*report.norm / 5e200, 1, 1e-14);
  EXPECT_NEAR(stepper.m()[0], 0.1 * 0.6, 1e-14);
}

TEST(Clipping, IsExactJustWhereSquaresOverflow) {
  Stepper<double> stepper(bcosw_c, {1, 2});
  const auto report = stepper.step({3e160, 4e160}, 0.1, {.max_norm = 1.0});
  EXPECT_NEAR(*report.norm / 5e160, 1, 1e-14);
  EXPECT_NEAR(stepper.m()[0], 0.1 * 0.6, 1e-14);
}

TEST(Clipping, PropagatesANormThatIsNaN) {
  Stepper<double> stepper(bcosw_c, {1, 2});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto report = stepper.step({nan, 4}, 0.1, {.max_norm = 1.0});
  EXPECT_TRUE(std::isnan(*report.norm));
  EXPECT_TRUE(std::isnan(stepper.m()[1])) << "of the gradient that is a number";
}

TEST(GradScale, DividesTheGradient) {
  Stepper<float> scaled(bcosw_c, {1, 2}), plain(bcosw_c, {1, 2});
  const auto report =
      scaled.step({3 * 1024.0F, 4 * 1024.0F}, 0.1, {.grad_scale = 1024, .max_norm = 10.0});
  plain.step({3, 4}, 0.1);
  EXPECT_EQ(*report.norm, 5);
  EXPECT_TRUE(same_bits(scaled.everything(), plain.everything()));
}

TEST(GradScale, BelowZeroGoesUphill) {
  Stepper<float> uphill(bcosw_c, {1, 2}), downhill(bcosw_c, {1, 2});
  const auto report = uphill.step({3, -4}, 0.1, {.grad_scale = -1, .max_norm = 10.0});
  downhill.step({-3, 4}, 0.1);
  EXPECT_EQ(*report.norm, 5);
  EXPECT_TRUE(same_bits(uphill.everything(), downhill.everything()));
}

template <class T>
void check_guard(T bad) {
  // Body, tail and edges of vectors and chunks.
  for (const std::size_t where :
       {std::size_t{0}, std::size_t{5}, std::size_t{4095}, std::size_t{4096}, std::size_t{4999}}) {
    for (const Method& method : {bcosw_c, bcosw_g, bcosw_m, adamw}) {
      Random random(71);
      Stepper<T> stepper(method, random.numbers<T>(5000));
      stepper.step(random.numbers<T>(5000), 0.1);
      const auto before = stepper.everything();
      auto g = random.numbers<T>(5000);
      g[where] = bad;
      const auto report = stepper.step(g, 0.1, {.guard = Guard::skip});
      EXPECT_TRUE(report.skipped);
      EXPECT_EQ(report.elements, 0U);
      EXPECT_TRUE(same_bits(before, stepper.everything()));
      EXPECT_EQ(stepper.steps(), 1U);
      EXPECT_THROW(stepper.step(g, 0.1, {.guard = Guard::raise}), Error);
      EXPECT_TRUE(same_bits(before, stepper.everything()));
      EXPECT_EQ(stepper.steps(), 1U);
    }
  }
}

TEST(TheGuard, ChangesNothingOnANonFiniteGradient) {
  check_guard<float>(std::numeric_limits<float>::quiet_NaN());
  check_guard<float>(std::numeric_limits<float>::infinity());
  check_guard<double>(-std::numeric_limits<double>::infinity());
}

TEST(TheGuard, LetsHugeFiniteGradientsThrough) {
  Stepper<float> narrow(bcosw_c, {1, 2});
  const float most = std::numeric_limits<float>::max();
  EXPECT_FALSE(narrow.step({most, -most}, 0.1, {.guard = Guard::raise}).skipped);
  Stepper<double> wide(bcosw_c, {1, 2});
  EXPECT_FALSE(wide.step({1e308, -1e308}, 0.1, {.guard = Guard::raise}).skipped);
}

TEST(Propagation, LetsNaNReachTheParameter) {
  for (const NamedMethod& named : named_methods()) {
    for (const Layout layout : {Layout::coordinate, Layout::tensor}) {
      Method method = *named.method;
      method.blocks = Blocks::of(layout);
      Stepper<float> stepper(method, std::vector<float>(9, 1));
      std::vector<float> g(9, 1);
      g[4] = std::numeric_limits<float>::quiet_NaN();
      stepper.step(g, 0.1);
      EXPECT_TRUE(std::isnan(stepper.x()[4])) << named.id;
    }
  }
}

/// Finite numbers that overflow are held at the largest; what was infinite before is not one.
TEST(Propagation, LetsAnInfiniteMomentumReachTheParameter) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Layout layout : {Layout::coordinate, Layout::tensor, Layout::row}) {
    for (const StepOptions& options : {StepOptions{}, StepOptions{.grad_scale = 2}}) {
      Method method = bcosw_c;
      method.blocks = Blocks::of(layout);
      Stepper<float> stepper(method, std::vector<float>(18, 1), {2, 9});
      stepper.step(std::vector<float>(18, 1), 0.1);
      stepper.m()[4] = infinity;
      stepper.step(std::vector<float>(18, 1), 0.1, options);
      EXPECT_EQ(stepper.m()[4], infinity);
      EXPECT_FALSE(std::isfinite(stepper.x()[4]));
    }
  }
}

TEST(AnInitialisingStep, LeavesAParameterUnstarted) {
  for (const char* id : {"bcosw_c", "bcosw_c@paper", "adamw", "bcosw_m"}) {
    const Method method = method_by_name(id);
    Stepper<float> initialised(method, {1, 2}), plain(method, {1, 2});
    const auto report = initialised.step({0, 0}, 0);
    EXPECT_EQ(initialised.steps(), 0U);
    EXPECT_EQ(report.elements, 0U);
    for (const float state : initialised.m()) EXPECT_EQ(state, 0);
    initialised.step({0.5F, -1}, 0.1);
    plain.step({0.5F, -1}, 0.1);
    EXPECT_TRUE(same_bits(initialised.everything(), plain.everything())) << id;
    // Afterwards a zero gradient at alpha = 0 is a step like any other.
    initialised.step({0, 0}, 0);
    EXPECT_EQ(initialised.steps(), 2U);
  }
}

TEST(InitOnFirstNonzero, BeginsEachCoordinateWithItsOwnGradient) {
  Method method = method_by_name("bcos_m@paper");
  method.eps_root = 0;
  method.init_on_first_nonzero = true;
  Stepper<double> stepper(method, {0, 0});
  stepper.tap();
  stepper.step({1, 0}, 1);
  stepper.step({1, 0}, 1);
  stepper.step({1, 3}, 1);
  EXPECT_NEAR(stepper.moved()[1], 1, 1e-14);  // without the option 3.16
  method.init_on_first_nonzero = false;
  Stepper<double> paper(method, {0, 0});
  paper.tap();
  for (int t = 0; t < 2; ++t) paper.step({1, 0}, 1);
  paper.step({1, 3}, 1);
  EXPECT_NEAR(paper.moved()[1], std::sqrt(10), 1e-12);
}

TEST(InitOnFirstNonzero, BeginsEachBlockWithItsOwnGradient) {
  for (const char* id : {"bcos_m@paper", "bcos_c@paper", "bcos_g@paper"}) {
    Method method = method_by_name(id);
    method.eps_root = 0;
    method.init_on_first_nonzero = true;
    method.blocks = Blocks::of(Layout::row);
    Stepper<double> stepper(method, {0, 0, 0, 0}, {2, 2});
    stepper.tap();
    stepper.step({1, 0, 0, 0}, 1);
    stepper.step({1, 1, 0, 0}, 1);
    stepper.step({1, 0, 3, 4}, 1);
    EXPECT_NEAR(stepper.moved()[2], 0.6, 1e-14) << id;
    EXPECT_NEAR(stepper.moved()[3], 0.8, 1e-14) << id;
  }
}

/// Blocks of equal elements move as one of them does, over the root of how many there are.
void expect_begun_like_one_element(Method method, const std::vector<std::int64_t>& shape,
                                   const std::vector<std::int64_t>& strides = {}) {
  const double each[] = {1, -2, 0.5, -1};
  const auto gradient_of = [&](std::uint64_t block, std::uint64_t t) {
    return t < block ? 0.0 : each[t - block];
  };
  const Blocks given = method.blocks;
  const BlockShape blocks(given, shape);
  Stepper<double> engine(method, std::vector<double>(size_of(shape)), shape);
  std::vector<Stepper<double>> ones;
  method.blocks = Blocks::of(Layout::coordinate);
  for (std::uint64_t k = 0; k < blocks.count(); ++k) ones.emplace_back(method, std::vector{0.0});
  for (std::uint64_t t = 0; t < 4; ++t) {
    Gradient gradient;
    std::vector<double> g(size_of(shape));
    for (std::uint64_t k = 0; k < blocks.count(); ++k) {
      ones[k].step({gradient_of(k, t)}, 1);
      for (std::uint64_t j = 0; j < blocks.length(k); ++j) {
        std::uint64_t i = blocks.index(k, j);
        if (!strides.empty()) {
          const auto columns = static_cast<std::uint64_t>(shape[1]);
          i = i / columns * static_cast<std::uint64_t>(strides[0]) +
              i % columns * static_cast<std::uint64_t>(strides[1]);
        }
        g[i] = gradient_of(k, t);
      }
    }
    gradient.data = g.data();
    gradient.strides = strides;
    engine.step_with(gradient, 1);
    for (std::uint64_t k = 0; k < blocks.count(); ++k) {
      const double root = std::sqrt(static_cast<double>(blocks.length(k)));
      for (const std::uint64_t j : {std::uint64_t{0}, blocks.length(k) - 1}) {
        ASSERT_NEAR(engine.x()[blocks.index(k, j)] * root, ones[k].x()[0], 1e-9)
            << to_json(method) << " block " << k << " step " << t;
      }
    }
  }
}

TEST(InitOnFirstNonzero, IsTheSameHoweverBlocksLie) {
  for (const char* id : {"bcos_m@paper", "bcos_c@paper", "bcos_g@paper"}) {
    Method method = method_by_name(id);
    method.eps_root = 0;
    method.lambda = 0;
    method.init_on_first_nonzero = true;
    method.blocks = Blocks::of(Layout::row);
    expect_begun_like_one_element(method, {3, 40});
    expect_begun_like_one_element(method, {3, 40}, {1, 3});
    expect_begun_like_one_element(method, {2, 140'000});
    expect_begun_like_one_element(method, {2, 140'000}, {1, 2});
    method.blocks = Blocks::of(Layout::column);
    expect_begun_like_one_element(method, {40, 3});
    method.blocks = Blocks::of_lists({{0, 4, 5}, {1, 2}, {3}});
    expect_begun_like_one_element(method, {6});
  }
}

/// Later ones are of an m that is 0 by chance.
TEST(ARawStart, IsOfTheFirstStepAlone) {
  for (const Layout layout : {Layout::coordinate, Layout::tensor}) {
    Method method = bcos_c;
    method.start = Start::first;
    method.decay = Decay::coupled;
    method.coupled_start = CoupledStart::raw;
    method.lambda = 0.1;
    method.blocks = Blocks::of(layout);
    Stepper<double> stepper(method, {0.0});
    stepper.step({0}, 0.1);
    stepper.step({3}, 0.1);
    EXPECT_NEAR(stepper.m()[0], 0.3, 1e-15);
  }
}

TEST(AlphaTimesLambdaAboveOne, IsReported) {
  Stepper<float> stepper(bcosw_c, {1});
  EXPECT_FALSE(stepper.step({1}, 10).decay_above_one);
  EXPECT_TRUE(stepper.step({1}, 11).decay_above_one);
}

}  // namespace
}  // namespace bcos::testing
