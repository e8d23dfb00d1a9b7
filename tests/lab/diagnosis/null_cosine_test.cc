#include "lab/diagnosis/null_cosine.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bcos/methods.hpp"
#include "lab/diagnosis/aiming.hpp"
#include "lab/numbers/statistics.hpp"
#include "lab/theory/noise.hpp"
#include "tests/engine/stepper.hpp"

namespace bcos::lab::diagnosis {
namespace {

using bcos::testing::Stepper;
using numbers::Moments;
using theory::key_of;
using theory::Noise;

TEST(TheNullCosine, OfMomentumHasItsKnownValues) {
  EXPECT_NEAR(null_cosine(0.9, 10), 0.76, 0.005);
  EXPECT_NEAR(null_cosine(0.9, 100), 0.24, 0.005);
  EXPECT_NEAR(null_cosine(0.9, 1), 1, 1e-12) << "the last step is all that is left";
  EXPECT_NEAR(null_cosine(0, 16), 0.25, 1e-15);
}

TEST(TheNullCosine, OfEqualStepsIsTheClosedForm) {
  for (const double beta : {0.0, 0.5, 0.9, 0.99}) {
    const auto cosines = null_cosines(std::vector<double>(200, 0.3), beta);
    for (const std::size_t left : {1, 2, 10, 100, 200}) {
      EXPECT_NEAR(*cosines[200 - left], null_cosine(beta, left), 1e-9) << beta << ' ' << left;
    }
  }
}

TEST(TheNullCosine, OfUncorrelatedStepsIsThePartOfTheirSquares) {
  const auto cosines = null_cosines(std::vector<double>{3, 0, 4, 12}, 0);
  EXPECT_DOUBLE_EQ(*cosines[0], 3.0 / 13);
  EXPECT_EQ(*cosines[1], 0);
  EXPECT_DOUBLE_EQ(*cosines[2], 4 / std::sqrt(160.0));
  EXPECT_EQ(*cosines[3], 1);
}

TEST(TheNullCosine, IsMissingWhereNoStepFollows) {
  const auto cosines = null_cosines(std::vector<double>{1, 0, 0}, 0.9);
  EXPECT_TRUE(cosines[0]);
  EXPECT_FALSE(cosines[1]);
  EXPECT_FALSE(cosines[2]);
  EXPECT_TRUE(null_cosines({}, 0.9).empty());
}

/// Cosines to the last iterate of directions that are noise and nothing else, stepped by the
/// engine: g and m at `left` steps before the end.
struct Measured {
  numbers::Moments g;
  numbers::Moments m;
};
Measured measured(const Method& method, const std::vector<double>& alphas, std::size_t left) {
  constexpr std::size_t kSize = 4000;
  constexpr std::uint64_t kWarm = 100;  // until momentum is stationary
  Measured result;
  for (std::uint64_t r = 0; r < 12; ++r) {
    Stepper<double> stepper(method, std::vector<double>(kSize));
    stepper.tap();
    std::vector<double> x;
    std::vector<double> g;
    std::vector<double> d;
    const std::uint64_t steps = kWarm + alphas.size();
    for (std::uint64_t t = 0; t < steps; ++t) {
      std::vector<double> noise(kSize);
      theory::Noise z(theory::key_of("null"), r, t);
      for (double& value : noise) value = z.normal();
      const bool looked_at = t + left == steps;
      if (looked_at) x = stepper.x();
      stepper.step(noise, t < kWarm ? 1 : alphas[t - kWarm]);
      if (looked_at) {
        g = stepper.g();
        d = stepper.d();
      }
    }
    result.g.add(*aim_of<double>(x, stepper.x(), g).cosine());
    result.m.add(*aim_of<double>(x, stepper.x(), d).cosine());
  }
  return result;
}

void expect_near(const numbers::Moments& seen, double truth) {
  EXPECT_NEAR(seen.mean().value, truth, 4.5 * seen.mean().se + 2e-3);
}

TEST(TheNullCosine, IsWhatPureNoiseGives) {
  for (const std::size_t left : {10, 100}) {
    const Measured seen = measured(sgd_momentum, std::vector<double>(100, 1.0), left);
    expect_near(seen.m, null_cosine(0.9, left));
    expect_near(seen.g, gradient_part(0.9) * null_cosine(0.9, left));
    EXPECT_GT(seen.m.mean().value, seen.g.mean().value) << "momentum beats g on noise alone";
  }
  const Measured plain = measured(sgd, std::vector<double>(100, 1.0), 25);
  expect_near(plain.g, 0.2);
}

TEST(TheNullCosine, FollowsASchedule) {
  std::vector<double> alphas(80);
  for (std::size_t s = 0; s < alphas.size(); ++s) alphas[s] = 1 - static_cast<double>(s) / 81;
  const Measured seen = measured(sgd_momentum, alphas, 60);
  expect_near(seen.m, *null_cosines(alphas, 0.9)[20]);
  EXPECT_GT(*null_cosines(alphas, 0.9)[20], 1.1 * null_cosine(0.9, 60));
  const Measured plain = measured(sgd, alphas, 60);
  expect_near(plain.g, *null_cosines(alphas, 0)[20]);
}

TEST(TheNullCosine, OfAnyDirectionIsThatOfTheStepTimesTheAngleBetween) {
  // Adam on noise of very different sizes: its steps have about the same length everywhere.
  constexpr std::size_t kSize = 20000;
  constexpr std::size_t kLook = 60;
  constexpr std::size_t kEnd = 100;
  Stepper<double> stepper(with(adam, {.beta_v = 0.99}), std::vector<double>(kSize));
  stepper.tap();
  std::vector<double> scale(kSize);
  theory::Noise sizes(theory::key_of("sizes"), 0, 0);
  for (double& s : scale) s = std::exp(sizes.normal());
  std::vector<double> lengths;
  std::vector<double> x, g, m, step;
  for (std::size_t t = 0; t < kEnd; ++t) {
    theory::Noise z(theory::key_of("sizes"), 1, t);
    std::vector<double> noise(kSize);
    for (std::size_t i = 0; i < kSize; ++i) noise[i] = scale[i] * z.normal();
    if (t == kLook) x = stepper.x();
    stepper.step(noise, 1 - static_cast<double>(t) / kEnd);
    lengths.push_back(std::sqrt(aim_of<double>(stepper.moved(), stepper.moved()).inner));
    if (t == kLook) {
      g = stepper.g();
      m = stepper.d();
      step = stepper.moved();
    }
  }
  const double null = *null_cosines(lengths, 0.9)[kLook];
  const auto expect = [&](const std::vector<double>& w, const char* name) {
    const double part = *aim_of<double>(w, step).cosine();
    EXPECT_NEAR(*aim_of<double>(x, stepper.x(), w).cosine(), part * null, 0.02) << name;
    return part;
  };
  EXPECT_EQ(expect(step, "step"), 1);
  EXPECT_LT(expect(m, "m"), 0.8) << "an angle that the noise's sizes make";
  EXPECT_LT(expect(g, "g"), 0.8 * gradient_part(0.9));
}

}  // namespace
}  // namespace bcos::lab::diagnosis
