#include "lab/theory/step_difference.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/theory/limits.hpp"
#include "lab/theory/one_step.hpp"
#include "lab/theory/problems/noise_alone.hpp"
#include "lab/theory/problems/quadratic.hpp"
#include "lab/theory/simulation.hpp"

namespace bcos::lab::theory {
namespace {

TEST(TwoPoints, HaveTheMomentsOfTheirValues) {
  const Law law = Law::two_points(-3, 2, 0.2);
  const CentralMoments moments = law.moments();
  const Quadrature rule = law.nodes({});
  ASSERT_EQ(rule.nodes.size(), 2U);
  EXPECT_NEAR(rule.nodes[0], -3, 1e-14);
  EXPECT_NEAR(rule.nodes[1], 2, 1e-14);
  double central[5] = {};
  for (std::size_t i = 0; i < 2; ++i) {
    for (int j = 1; j <= 4; ++j) {
      central[j] += rule.weights[i] * std::pow(rule.nodes[i] - moments.mean, j);
    }
  }
  EXPECT_NEAR(moments.mean, 1, 1e-14);
  EXPECT_NEAR(central[1], 0, 1e-14);
  EXPECT_NEAR(moments.c2, central[2], 1e-13);
  EXPECT_NEAR(moments.c3, central[3], 1e-13);
  EXPECT_NEAR(moments.c4, central[4], 1e-12);
}

TEST(TwoPoints, AreSampledAsOftenAsTheySay) {
  const Law law = Law::two_points(-3, 2, 0.2);
  std::uint64_t low = 0;
  constexpr std::uint64_t kSamples = 20000;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    Noise noise(key_of("two points"), i, 0);
    const double value = law.sample(noise);
    ASSERT_TRUE(std::abs(value + 3) < 1e-12 || std::abs(value - 2) < 1e-12) << value;
    low += value < 0 ? 1 : 0;
  }
  const numbers::Estimate share = numbers::share_of(low, kSamples);
  EXPECT_NEAR(share.value, 0.2, 4.5 * share.se);
}

TEST(TheRatioLemma, IsNearlyAttainedByEveryBoundedMethod) {
  constexpr double kRare = 1e-3;
  const auto all = nearly_attained(kRare);
  EXPECT_EQ(all.size(), 8U);
  for (const NearlyAttained& c : all) {
    const EstimatorMoments moments =
        moments_of(c.method, c.states.m[0], c.states.v[0], c.law.moments());
    const Expansion terms = expansion_of(moments, 0);
    const double rest =
        expected_step(c.method, c.states, c.law).mean - terms.first - terms.covariance;
    const double used = std::abs(rest) * moments.snr() / c.c;
    EXPECT_LE(used, 1) << c.id;
    EXPECT_GE(used, 1 - 3 * kRare) << c.id;
  }
}

TEST(TheVariancePart, IsTheSmallerOfTwoBounds) {
  EstimatorMoments moments{.d = {1, 1}, .bias = 0, .variance = 0.0001, .covariance = 0.001};
  // E v = 2, SNR = 40000.
  EXPECT_NEAR(variance_part(moments, 0, 3), 0.001 / (2 * std::pow(2, 1.5)) + 3 / 40000.0, 1e-15);
  moments.variance = 16;  // SNR = 1/4
  EXPECT_NEAR(variance_part(moments, 0, 3), 6, 1e-14);
}

TEST(SkewedNoise, IsNegativeMoreOftenThanNot) {
  EXPECT_NEAR(skewed_sign(1), 2 / std::exp(1.0) - 1, 1e-15);
  // In pairs, against samples.
  numbers::Moments along(0);
  const NoiseAlone problem = skewed_noise(2, 2);
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    Noise noise(key_of("skewed pairs"), i, 0);
    Vector d(2);
    problem.sample(problem.start(), noise, d);
    along.add((d[0] + d[1]) / (2 * std::hypot(d[0], d[1])));
  }
  EXPECT_NEAR(along.mean().value, skewed_sign(2), 4.5 * along.mean().se);
}

TEST(BlocksNearTheirTarget, ReturnByTheSlopesOfPhi) {
  const BlockQuadratic problem;
  constexpr double kLambda = 0.5;
  constexpr double kNear = 1e-5;
  const Vector target = *problem.target(kLambda);
  const Vector kappa = problem.kappa(kLambda);
  for (std::size_t k = 0; k < 2; ++k) {
    const double c0 = problem.c[2 * k];
    const double c1 = problem.c[2 * k + 1];
    const double norm = std::hypot(c0, c1);
    const Vector directions[] = {{c0 / norm, c1 / norm}, {-c1 / norm, c0 / norm}};
    for (std::size_t j = 0; j < 2; ++j) {
      const auto along = [&](double step) {
        Vector x = target;
        for (std::size_t i = 0; i < 2; ++i) x[2 * k + i] += step * directions[j][i];
        const Vector phi = phi_of(problem, x);
        return phi[2 * k] * directions[j][0] + phi[2 * k + 1] * directions[j][1];
      };
      const double slope = (along(kNear) - along(-kNear)) / (2 * kNear);
      EXPECT_NEAR(kappa[2 * k + j], slope + kLambda, 1e-8) << k << " " << j;
    }
  }
  // The variances of all directions and |phi|^2 are E|d|^2 / E|d|^2 = 1.
  const Vector variance = problem.noise_variance(kLambda);
  const Vector phi = phi_of(problem, target);
  for (std::size_t k = 0; k < 2; ++k) {
    const double phi2 = phi[2 * k] * phi[2 * k] + phi[2 * k + 1] * phi[2 * k + 1];
    EXPECT_NEAR(variance[2 * k] + variance[2 * k + 1] + phi2, 1, 1e-12);
  }
  EXPECT_NEAR(squared_norm(problem.start_error(kLambda)), squared_distance(problem.start(), target),
              1e-12);
}

TEST(TheLongRunVariance, IsThatOfSumsOfManySteps) {
  EXPECT_NEAR(long_run_variance(0.3, 1, 0), 1 - 0.09 / 1.09, 1e-6);
  constexpr double kBeta = 0.8;
  constexpr double kMean = 0.2;
  const Quadratic problem = unit_noise({kMean});
  constexpr std::uint64_t kSettle = 100;
  constexpr std::uint64_t kSteps = 1000;
  const Simulation simulation{.problem = problem,
                              .method = conceptual_momentum(0, kBeta),
                              .steps = kSettle + kSteps,
                              .replicates = 4000,
                              .key = key_of("long run"),
                              .x0 = {0},
                              .frozen = true};
  Vector sums(simulation.replicates, 0.0);
  simulate(simulation, [&](const Moment& now) {
    for (std::size_t i = 0; now.t > kSettle && i < now.count; ++i) {
      sums[now.first + i] += now.update(i)[0];
    }
  });
  numbers::Moments moments(0);
  for (const double sum : sums) moments.add(sum / std::sqrt(static_cast<double>(kSteps)));
  const numbers::Estimate seen = moments.variance();
  // Of a finite sum the ends are missing, about the memory over the length.
  const double expected = long_run_variance(kMean, 1, kBeta);
  EXPECT_NEAR(seen.value, expected, 4.5 * seen.se + 0.01 * expected);
}

}  // namespace
}  // namespace bcos::lab::theory
