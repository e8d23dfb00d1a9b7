#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "bcos/methods.hpp"
#include "bcos/text.hpp"
#include "tests/engine/bits.hpp"
#include "tests/engine/expect_error.hpp"
#include "tests/engine/random_numbers.hpp"
#include "tests/engine/stepper.hpp"

/// Finite in, finite out; and what the authors' file gets wrong.
namespace bcos::testing {
namespace {

template <class T>
std::vector<T> extreme_values() {
  using Limits = std::numeric_limits<T>;
  const T root = std::sqrt(Limits::max());
  return {Limits::max(),
          -Limits::max(),
          Limits::min(),
          Limits::denorm_min(),
          -Limits::denorm_min(),
          T(1e21),
          T(-1e20),
          T(1e19),
          root,
          root * T(1.1),
          T(0),
          T(-0.0),
          T(1),
          T(1e-30),
          T(-1e-22)};
}

/// Watched or not: a step that nobody taps takes rows another way, and must give the same bits.
template <class T>
void stay_finite(bool wild_states) {
  const std::vector<T> values = extreme_values<T>();
  Random random(51);
  for (const NamedMethod& named : named_methods()) {
    if (named.method->estimator == Estimator::constant) continue;
    for (const Layout layout : {Layout::coordinate, Layout::tensor, Layout::row}) {
      for (const bool with_eps : {true, false}) {
        Method method = *named.method;
        method.blocks = Blocks::of(layout);
        if (method.decay == Decay::coupled) method.lambda = 0;
        if (!with_eps) method.eps = method.eps_root = 0;
        const std::size_t n = 120;
        const auto draw = [&] { return values[random.below(values.size())]; };
        Stepper<T> stepper(method, random.numbers<T>(n), {3, 40});
        Stepper<T> unwatched = stepper;
        stepper.tap();
        const auto bound = amplification_bound(method);
        for (int t = 0; t < 200; ++t) {
          std::vector<T> g(n);
          for (T& value : g) value = draw();
          if (wild_states && t % 10 == 5) {
            for (T& value : stepper.m()) value = draw();
            for (T& value : stepper.v()) value = std::abs(draw());
            unwatched.m() = stepper.m();
            unwatched.v() = stepper.v();
          }
          stepper.step(g, 1e-3);
          unwatched.step(g, 1e-3);
          ASSERT_TRUE(same_bits(unwatched.everything(), stepper.everything()))
              << to_json(method) << " at " << t;
          for (const T value : stepper.everything()) {
            ASSERT_TRUE(std::isfinite(value)) << to_json(method) << " at " << t;
          }
          // A stored v that was clamped cannot bound Adam's m.
          if (wild_states || method.estimator == Estimator::ema_g || !bound) continue;
          for (const T moved : stepper.moved()) {
            ASSERT_LE(std::abs(moved), 1e-3 * *bound * 1.0001) << to_json(method) << " at " << t;
          }
        }
      }
    }
  }
}

TEST(FiniteGradients, GiveFiniteBoundedStepsInFloat32) { stay_finite<float>(false); }
TEST(FiniteGradients, GiveFiniteBoundedStepsInFloat64) { stay_finite<double>(false); }
TEST(FiniteStates, GiveFiniteStepsInFloat32) { stay_finite<float>(true); }
TEST(FiniteStates, GiveFiniteStepsInFloat64) { stay_finite<double>(true); }

/// Its weight is 0 at beta = 0, and its square overflows.
TEST(AMomentumThatDoesNotCount, MayBeOfAnySize) {
  for (const Method* named : {&bcos_c, &bcos_c_simple}) {
    for (const double size : {1e160, 1e-160}) {
      Method method = *named;
      method.beta = 0;
      method.eps_root = 0;
      method.blocks = Blocks::of(Layout::tensor);
      Stepper<double> stepper(method, {1.0, 2.0});
      stepper.step({size, -size}, 0.1);
      stepper.step({1 / size, 1 / size}, 0.1);
      for (const double value : stepper.everything()) {
        EXPECT_TRUE(std::isfinite(value)) << to_json(method);
      }
      EXPECT_NEAR(stepper.x()[0], 1 - 0.2 / std::sqrt(2.0), 1e-12);
    }
  }
}

TEST(ATappedEstimate, IsFiniteLikeAStoredOne) {
  Method method = bcos_c;
  method.blocks = Blocks::of(Layout::tensor);
  Stepper<float> stepper(method, {1, 2});
  stepper.tap();
  stepper.step({1e30F, -1e30F}, 0.1);
  EXPECT_EQ(stepper.estimate()[0], std::numeric_limits<float>::max());
}

/// Blocks of float32 rely on it. Every beta of [1/2, 1) with the largest 1 - beta that may go with
/// it; below 1/2 the two change places.
TEST(TheLargestNumbers, HaveAFiniteAverageForEveryBeta) {
  const float largest = std::numeric_limits<float>::max();
  for (float beta = 0.5F; beta < 1.0F; beta = std::nextafter(beta, 2.0F)) {
    const auto fresh = static_cast<float>(1.0 - static_cast<double>(beta) + 0x1p-25);
    const float average = beta * largest + fresh * largest;
    ASSERT_TRUE(std::isfinite(average)) << beta;
  }
}

TEST(ZeroGradients, MoveNothingWithoutEps) {
  for (const NamedMethod& named : named_methods()) {
    Method method = *named.method;
    method.eps = method.eps_root = 0;
    method.lambda = 0;
    for (const Layout layout : {Layout::coordinate, Layout::tensor}) {
      method.blocks = Blocks::of(layout);
      Stepper<float> stepper(method, {1, 2, 3});
      for (int t = 0; t < 5; ++t) stepper.step({0, 0, 0}, 0.1);
      EXPECT_EQ(stepper.x(), (std::vector<float>{1, 2, 3})) << named.id;
    }
  }
}

TEST(AVanishedEstimate, LeavesTheSignOfTheDirection) {
  Method method = adam;
  method.eps = 0;
  method.eps_root = 0;
  for (const Layout layout : {Layout::coordinate, Layout::tensor}) {
    method.blocks = Blocks::of(layout);
    Stepper<float> stepper(method, {0, 0});
    stepper.steps() = 10;
    stepper.m() = {0.5F, 0};
    for (float& v : stepper.v()) v = 0;
    stepper.step({0, 0}, 0.25);
    EXPECT_FLOAT_EQ(stepper.x()[0], -0.25F);
    EXPECT_EQ(stepper.x()[1], 0);
  }
}

/// A state whose parts do not belong together: nothing bounds |d| / sqrt(v), but a step does.
template <class T>
double amplification(const Method& method, double m, double v) {
  Stepper<T> stepper(method, {0, 0});
  stepper.steps() = 10;
  stepper.m() = {static_cast<T>(m), 0};
  for (T& value : stepper.v()) value = static_cast<T>(v);
  stepper.step({0, 0}, 1e-10);
  return -static_cast<double>(stepper.x()[0]) / 1e-10;
}

TEST(AdamsSteps, AreBoundedWhateverItsStatesHold) {
  for (const Layout layout : {Layout::coordinate, Layout::tensor}) {
    Method method = adam;
    method.blocks = Blocks::of(layout);
    EXPECT_NEAR(amplification<float>(method, 1e12, 1e-28) / 1e20, 0.9, 0.05);
    for (const auto& [m, v] : {std::pair(1e38, 1e-22), {1e13, 1e-33}, {1e38, 1e-40}, {1e38, 0.0}}) {
      EXPECT_NEAR(amplification<float>(method, m, v) / 1e20, 1, 1e-3) << m << " and " << v;
      EXPECT_NEAR(amplification<double>(method, m, v) / 1e20, 1, 1e-3) << m << " and " << v;
    }
    EXPECT_NEAR(amplification<double>(method, 1e160, 1e200) / 1e20, 1, 1e-3);
  }
}

TEST(AMomentumThatDoesNotCount, HoldsNoCoordinateBack) {
  for (const Layout layout : {Layout::coordinate, Layout::tensor}) {
    Method method = bcos_c;
    method.beta = 0;
    method.blocks = Blocks::of(layout);
    Stepper<float> stepper(method, {1});
    stepper.steps() = 1;
    stepper.m() = {1e38F};
    stepper.step({1e-3F}, 0.25);
    EXPECT_FLOAT_EQ(stepper.x()[0], 0.75F);
    EXPECT_EQ(stepper.m()[0], 1e-3F);
  }
}

TEST(AFactor, OfAnySmallnessIsApplied) {
  for (const Layout layout : {Layout::coordinate, Layout::tensor}) {
    Method method = bcos_c;
    method.eps_root = 0;
    method.blocks = Blocks::of(layout);
    Stepper<float> stepper(method, {1, 1, 1, 1});
    const std::vector<float> g(4, 3e38F);
    stepper.step(g, 0.25, {.max_norm = 1e-10});
    EXPECT_FLOAT_EQ(stepper.x()[0], layout == Layout::coordinate ? 0.75F : 0.875F);
    // clip = 1e-10 / 6e38, times g: an m of half of max_norm, smoothed
    EXPECT_NEAR(stepper.m()[0] / 5e-12, 1, 1e-5);
  }
}

TEST(NumbersThatTheTypeCannotHold, AreNamed) {
  const std::vector<float> g = {0, 1};
  const auto error = [&](const Method& method, double alpha, const StepOptions& options = {}) {
    Stepper<float> stepper(method, {1, 2});
    const std::string text = error_of([&] { stepper.step(g, alpha, options); });
    EXPECT_EQ(stepper.x(), (std::vector<float>{1, 2}));
    EXPECT_EQ(stepper.steps(), 0U);
    return text;
  };
  const auto mentions = [](const std::string& text, const char* what) {
    EXPECT_NE(text.find(what), std::string::npos) << text;
  };
  mentions(error(bcosw_c, 1e39),
           "alpha of parameter 0 within the range of float32 but received 1e+39");
  Method method = bcosw_c;
  method.lambda = 1e50;
  mentions(error(method, 0.1), "alpha lambda");
  method = bcos_c;
  method.lambda = 1e50;
  mentions(error(method, 0.1), "lambda");
  method = sgd;
  method.c = 1e-90;
  mentions(error(method, 0.1), "alpha / sqrt(c)");
  mentions(error(bcosw_c, 0.1, {.grad_scale = 1e-39}), "1 / grad_scale");
  mentions(error(bcosw_c, 0.1, {.grad_scale = 1e-310}), "grad_scale with a finite inverse");
  mentions(error(bcosw_c, 0.1, {.grad_scale = 1e-310, .guard = Guard::skip}), "grad_scale");
}

TEST(AStepCounter, ThatNobodyCountedIsRefused) {
  Stepper<float> stepper(adam, {1, 2});
  stepper.steps() = ~std::uint64_t{0};
  EXPECT_NE(error_of([&] { stepper.step({1, 1}, 0.1); }).find("step counter below 2^63"),
            std::string::npos);
  EXPECT_EQ(stepper.x(), (std::vector<float>{1, 2}));
}

/// Squares of such gradients are subnormal: they are off by per cents.
TEST(AStabiliser, FarBelowOneCountsToTheLastDigit) {
  const float g = 1.1e-22F;
  const float eps_root = 7 * 0x1p-149F;
  for (const Layout layout : {Layout::coordinate, Layout::tensor}) {
    Method method = bcosw_c;
    method.beta = 0;
    method.lambda = 0;
    method.eps_root = static_cast<double>(eps_root);
    method.blocks = Blocks::of(layout);
    Stepper<float> stepper(method, {0});
    for (int t = 0; t < 2; ++t) {
      stepper.x()[0] = 0;
      stepper.step({g}, 1);
      const auto wide = static_cast<double>(g);
      const double exact = wide / std::sqrt(wide * wide + static_cast<double>(eps_root));
      EXPECT_NEAR(-static_cast<double>(stepper.x()[0]) / exact, 1, 1e-6) << to_json(method);
    }
  }
}

struct Fault {
  const char* id;
  double size;
};

class AHugePair : public ::testing::TestWithParam<Fault> {};

/// One pair of huge gradients of opposite sign, then healthy ones: the authors' file freezes (v is
/// infinite for ever) or gives NaN.
TEST_P(AHugePair, IsSurvived) {
  const Method method = method_by_name(GetParam().id);
  const auto size = static_cast<float>(GetParam().size);
  Stepper<float> stepper(method, {0.1F});
  for (int t = 0; t < 10; ++t) stepper.step({1.0F}, 1e-3);
  stepper.step({size}, 1e-3);
  stepper.step({-size}, 1e-3);
  ASSERT_TRUE(std::isfinite(stepper.x()[0]));
  // What remains of the pair dies out at the rate of beta; then the parameter follows again.
  for (int t = 0; t < 1200; ++t) stepper.step({1.0F}, 1e-3);
  const float before = stepper.x()[0];
  for (int t = 0; t < 20; ++t) stepper.step({1.0F}, 1e-3);
  EXPECT_LT(stepper.x()[0], before - 5e-3F);
}

INSTANTIATE_TEST_SUITE_P(OfAnySize, AHugePair,
                         ::testing::Values(Fault{"bcos_g", 1e19}, Fault{"bcos_g", 1e20},
                                           Fault{"bcos_g", 1e21}, Fault{"bcos_m", 1e19},
                                           Fault{"bcos_m", 1e20}, Fault{"bcos_m", 1e21},
                                           Fault{"bcos_c", 1e19}, Fault{"bcos_c", 1e20},
                                           Fault{"bcos_c", 1e21}, Fault{"bcosw_c", 3e38},
                                           Fault{"bcosw_c@paper", 1e21}),
                         [](const auto& row) {
                           std::string name = row.param.id;
                           std::replace(name.begin(), name.end(), '@', '_');
                           return name + "_" + std::to_string(row.index);
                         });

/// v is estimated from the momentum before this step; overwriting m first gives another number.
TEST(TheConditionalEstimate, ReadsTheMomentumBeforeTheStep) {
  for (const Layout layout : {Layout::coordinate, Layout::tensor}) {
    Method method = bcos_c;
    method.eps_root = 0;
    method.blocks = Blocks::of(layout);
    Stepper<double> stepper(method, {0.0});
    stepper.tap();
    stepper.step({1.0}, 1);  // m = 0.1
    stepper.step({-2.0}, 1);
    const double m = 0.1, g = -2.0, beta = 0.9, w = 0.1;
    const double now = beta * m + w * g;
    const double right = beta * beta * m * m + 2 * beta * w * m * now + w * w * g * g;
    const double aliased = beta * beta * now * now + 2 * beta * w * now * now + w * w * g * g;
    EXPECT_NEAR(stepper.estimate()[0], right, 1e-15);
    EXPECT_GT(std::abs(right - aliased), 1e-3);
  }
}

}  // namespace
}  // namespace bcos::testing
