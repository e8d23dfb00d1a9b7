#include "lab/theory/one_step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "bcos/methods.hpp"
#include "lab/theory/graded_rule.hpp"
#include "lab/theory/stationary.hpp"

namespace bcos::lab::theory {
namespace {

TEST(GradedRule, IntegratesWhatJumpsOrBendsAtAPoint) {
  const double points[] = {0.3};
  const Quadrature rule = graded_rule(-1, 2, points);
  const auto integral = [&](const auto& f) {
    double sum = 0;
    for (std::size_t i = 0; i < rule.nodes.size(); ++i) sum += rule.weights[i] * f(rule.nodes[i]);
    return sum;
  };
  EXPECT_NEAR(integral([](double x) { return x * x; }), 3, 1e-13);
  EXPECT_NEAR(integral([](double x) { return x < 0.3 ? -1.0 : 1.0; }), 0.4, 1e-13);
  // atan'(x / h) with a width far below any panel that is not graded
  const double h = 1e-6;
  const auto peak = [&](double x) { return h / (h * h + (x - 0.3) * (x - 0.3)); };
  EXPECT_NEAR(integral(peak), std::atan(1.7 / h) + std::atan(1.3 / h), 1e-12);
}

TEST(Law, HasTheMomentsItsNodesGive) {
  for (const Law law : {Law{Law::Kind::gaussian, 0.3, 1.1}, {Law::Kind::exponential, -2, 0.5}}) {
    const Quadrature rule = law.nodes({});
    const CentralMoments moments = law.moments();
    double sums[5] = {};
    for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
      double power = rule.weights[i];
      for (double& sum : sums) {
        sum += power;
        power *= rule.nodes[i] - moments.mean;
      }
    }
    EXPECT_NEAR(sums[0], 1, 1e-14);
    EXPECT_NEAR(sums[1], 0, 1e-14);
    EXPECT_NEAR(sums[2], moments.c2, 1e-13);
    EXPECT_NEAR(sums[3], moments.c3, 1e-12);
    EXPECT_NEAR(sums[4], moments.c4, 1e-11);
  }
}

TEST(OneStep, StartsFromTheStatesItIsGivenEachTime) {
  Method method = bare(bcos_m);
  method.start = Start::first;  // plain factors
  OneStep step(method, {.m = {1, 2}, .v = {3, 4}}, 2, 2);
  const Vector g = {0.5, -1, 2, 0};
  for (int again = 0; again < 2; ++again) {
    step.run(g);
    for (std::size_t i = 0; i < 4; ++i) {
      const double m = 0.9 * (i % 2 == 0 ? 1 : 2) + 0.1 * g[i];
      const double v = 0.9 * (i % 2 == 0 ? 3 : 4) + 0.1 * m * m;
      EXPECT_NEAR(step.d()[i], m, 1e-15);
      EXPECT_NEAR(step.step()[i], m / std::sqrt(v), 1e-15);
    }
  }
}

TEST(OneStep, RefusesStatesOfAnotherSize) {
  EXPECT_THROW(OneStep(bare(bcos_c), {.m = {1}}, 2, 1), std::exception);
}

TEST(ExpectedStep, OfSignIsTheErrorFunction) {
  for (const double mean : {-3.0, 0.0, 0.01, 0.7}) {
    const Law law{Law::Kind::gaussian, mean, 2};
    const ExpectedStep step = expected_step(bare(sign_sgd), {}, law);
    EXPECT_NEAR(step.mean, std::erf(mean / (2 * std::numbers::sqrt2)), 1e-13);
    EXPECT_NEAR(step.square, 1, 1e-13);
  }
}

TEST(ExpectedStep, HoldsForStatesFarSmallerThanTheNoise) {
  // The sign of g in the limit m = 0, from which it differs by some m log m.
  const Law law{Law::Kind::gaussian, 0.5, 1};
  EXPECT_NEAR(expected_step(bare(bcos_c), {.m = {1e-12}}, law).mean,
              std::erf(0.5 / std::numbers::sqrt2), 1e-9);
}

TEST(StationaryStep, IsWhatTheTableSays) {
  const auto rms = [](const Method& method) {
    return std::sqrt(stationary_step(method, 0).square);
  };
  EXPECT_NEAR(rms(bcos_g), 0.9597084467415, 1e-12);  // one integral, by another program
  EXPECT_NEAR(rms(bcos_c), 0.9230365556009, 1e-11);  // over the angle of (m, g) alone
  EXPECT_NEAR(rms(bcos_c_simple), 0.9346492984542, 1e-11);
  EXPECT_NEAR(rms(adams), 0.7254762501100, 1e-11);
  EXPECT_NEAR(stationary_step(sign_sgd, 0.3).mean, std::erf(0.3 / std::numbers::sqrt2), 1e-14);
  // With beta_v = 0 an average is the last square.
  Method last = bcos_m;
  last.beta_v = 0;
  const double sd = std::sqrt(0.1 / 1.9);
  EXPECT_NEAR(stationary_step(last, 0.3).mean, std::erf(0.3 / (sd * std::numbers::sqrt2)), 1e-12);
  EXPECT_NEAR(stationary_step(last, 0.3).square, 1, 1e-12);
  // An Adam whose v hardly changes divides m by sqrt(E g^2).
  EXPECT_NEAR(stationary_step(adam, 0.3).mean, 0.3 / std::sqrt(1.09), 1e-3);
  EXPECT_NEAR(stationary_step(adam, 0).square, 0.1 / 1.9, 1e-3);
}

}  // namespace
}  // namespace bcos::lab::theory
