#include "lab/theory/estimator_moments.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "lab/theory/one_step.hpp"
#include "lab/theory/sampled_moments.hpp"

namespace bcos::lab::theory {

void PrintTo(const NamedEstimator& row, std::ostream* out) { *out << row.id; }

namespace {

constexpr double kM = -0.4;
constexpr double kV = 0.7;

/// A skewed law of three values: every expectation of it is a sum.
struct Discrete {
  Vector values = {-1.3, 0.2, 2.5};
  Vector chances = {0.3, 0.5, 0.2};

  double mean_of(ConstSpan f) const { return dot(chances, f); }
  CentralMoments moments() const {
    const double mean = mean_of(values);
    Vector power(3, 1.0);
    double c[5] = {};
    for (int j = 1; j <= 4; ++j) {
      for (std::size_t i = 0; i < 3; ++i) power[i] *= values[i] - mean;
      c[j] = mean_of(power);
    }
    return {mean, c[2], c[3], c[4]};
  }
};

class EveryEstimator : public ::testing::TestWithParam<NamedEstimator> {};

std::vector<NamedEstimator> rows() {
  std::vector<NamedEstimator> all = estimators(0.9);
  for (NamedEstimator& row : estimators(0.4, 0.7)) {
    row.id += "_other";
    all.push_back(std::move(row));
  }
  return all;
}

TEST_P(EveryEstimator, HasTheMomentsOfItsTableOnADiscreteLaw) {
  const Discrete law;
  const Method& method = GetParam().method;
  const EstimatorMoments table = moments_of(method, kM, kV, law.moments());
  OneStep step(method, {.m = {kM}, .v = {kV}}, 1, 3);
  step.run(law.values);
  Vector squares(3), v_squares(3), products(3);
  for (std::size_t i = 0; i < 3; ++i) {
    squares[i] = step.d()[i] * step.d()[i];
    v_squares[i] = step.v()[i] * step.v()[i];
    products[i] = step.d()[i] * step.v()[i];
  }
  const double d = law.mean_of(step.d());
  const double v = law.mean_of(step.v());
  EXPECT_NEAR(table.d.mean, d, 1e-14);
  EXPECT_NEAR(table.d.second(), law.mean_of(squares), 1e-14);
  EXPECT_NEAR(table.bias, v - law.mean_of(squares), 1e-14);
  EXPECT_NEAR(table.variance, law.mean_of(v_squares) - v * v, 1e-13);
  EXPECT_NEAR(table.covariance, law.mean_of(products) - d * v, 1e-14);
  EXPECT_NEAR(table.mean(), v, 1e-14);
}

TEST_P(EveryEstimator, IsSampledToTheSameMoments) {
  const Method& method = GetParam().method;
  const Law law{Law::Kind::exponential, 0.3, 1.1};
  const EstimatorMoments table = moments_of(method, kM, kV, law.moments());
  const auto sampled =
      sampled_moments({&method, 1}, kM, kV, law, 20'000, key_of("moments test")).front();
  const auto expect = [](const numbers::Estimate& seen, double exact) {
    EXPECT_NEAR(seen.value, exact, 4.5 * seen.se + 1e-12);
  };
  expect(sampled.bias, table.bias);
  expect(sampled.variance, table.variance);
  expect(sampled.covariance, table.covariance);
  expect(sampled.step, expected_step(method, {.m = {kM}, .v = {kV}}, law).mean);
}

INSTANTIATE_TEST_SUITE_P(Theory, EveryEstimator, ::testing::ValuesIn(rows()),
                         [](const auto& info) { return info.param.id; });

TEST(EstimatorMoments, OfAdamWithOneMinusBetaVTheSquareOfOneMinusBeta) {
  const CentralMoments g = Law{Law::Kind::exponential, 0.3, 1.1}.moments();
  const double b = 0.9;
  const double w = 1 - b;
  const Method adam = estimators(b, 1 - w * w)[5].method;
  const EstimatorMoments moments = moments_of(adam, kM, kV, g);
  EXPECT_NEAR(moments.bias, adam.beta_v * kV - b * b * kM * kM - 2 * b * w * kM * g.mean, 1e-15);
  const EstimatorMoments simple = moments_of(estimators(b)[1].method, kM, kV, g);
  EXPECT_NEAR(moments.variance, simple.variance, 1e-15);
  EXPECT_NEAR(moments.covariance, simple.covariance, 1e-15);
}

TEST(EstimatorMoments, OfTheFullEstimatorAreThoseOfOneSquare) {
  const double b = 0.8;
  const double w4 = std::pow(1 - b, 4);
  for (const Law law : {Law{Law::Kind::gaussian, 0.3, 1.1}, {Law::Kind::exponential, -2, 0.3}}) {
    const CentralMoments shifted = law.moments().moved(b * kM, 1);
    EXPECT_NEAR(moments_of(estimators(b)[0].method, kM, 0, law.moments()).variance,
                w4 * shifted.variance_of_square(), 1e-15);
  }
  const double s = 1.1;
  const double q = 0.3 + b * kM;
  EXPECT_NEAR(
      moments_of(estimators(b)[0].method, kM, 0, Law{.mean = 0.3, .sd = s}.moments()).variance,
      w4 * (2 * std::pow(s, 4) + 4 * s * s * q * q), 1e-15);
}

TEST(EstimatorMoments, WithoutVarianceHaveAnInfiniteSignalToNoiseRatio) {
  const EstimatorMoments constant = moments_of(estimators(0.9)[8].method, kM, kV, {1, 1, 0, 3});
  EXPECT_TRUE(std::isinf(constant.snr()));
  const EstimatorMoments none = moments_of(estimators(0.9)[0].method, 0, 0, {});
  EXPECT_EQ(none.phi(), 0);
}

TEST(Corrected, UsesTheFactorsOfItsStep) {
  Method method = estimators(0.9, 0.95)[5].method;
  EXPECT_EQ(corrected(method, 0).beta, 0);
  const Method third = corrected(method, 2);
  EXPECT_NEAR(1 - third.beta, 0.1 / (1 - std::pow(0.9, 3)), 1e-15);
  EXPECT_NEAR(1 - third.beta_v, 0.05 / (1 - std::pow(0.95, 3)), 1e-15);
}

}  // namespace
}  // namespace bcos::lab::theory
