#include "lab/diagnosis/step_difference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "bcos/methods.hpp"
#include "lab/theory/noise.hpp"
#include "lab/theory/numerics.hpp"
#include "tests/engine/expect_error.hpp"
#include "tests/engine/stepper.hpp"

namespace bcos::lab::diagnosis {
namespace {

using bcos::testing::error_of;
using bcos::testing::Stepper;
using theory::key_of;
using theory::Noise;

/// d and v of one step of the engine from a fixed state, for many gradients mean + z.
struct Drawn {
  std::vector<double> d;
  std::vector<double> v;
  std::size_t count = 0;
  StepSamples<double> samples() const { return {d, v, count}; }
};
Drawn drawn(const Method& method, std::span<const double> mean, std::span<const double> m,
            std::size_t count) {
  Drawn result;
  result.count = count;
  for (std::size_t j = 0; j < count; ++j) {
    Stepper<double> stepper(method, std::vector<double>(mean.size()));
    stepper.tap();
    stepper.steps() = 5;
    std::copy(m.begin(), m.end(), stepper.m().begin());
    theory::Noise z(theory::key_of("difference"), j, 0);
    std::vector<double> g(mean.begin(), mean.end());
    for (double& value : g) value += z.normal();
    stepper.step(g, 0.1);
    result.d.insert(result.d.end(), stepper.d().begin(), stepper.d().end());
    result.v.insert(result.v.end(), stepper.estimate().begin(), stepper.estimate().end());
  }
  return result;
}

TEST(TheStepDifference, OfSignsOnNormalNoiseIsKnown) {
  const std::vector<double> mean = {0.5228, 2.2012, 0, -1};
  const Drawn data = drawn(sign_sgd, mean, {}, 40000);
  const StepDifference found = step_difference(data.samples(), 0);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double r = mean[i];
    const double phi = r / std::sqrt(1 + r * r);
    const double err = std::erf(r / std::numbers::sqrt2) - phi;
    EXPECT_NEAR(found.phi[i], phi, 0.02);
    EXPECT_NEAR(found.err[i].value, err, 4.5 * found.err[i].se);
    EXPECT_LT(found.err[i].se, 0.006);
    EXPECT_EQ(found.blocks[i].size, std::abs(found.err[i].value));
  }
  EXPECT_NEAR(found.err[0].value, -0.064418, 0.02);
  EXPECT_NEAR(found.err[1].value, 0.061827, 0.02);
  EXPECT_NEAR(found.amplification, 1, 1e-12);
  EXPECT_NEAR(*found.blocks[0].tau, 0, 1e-12) << "v is d^2 itself";
  double squares = 0;
  double largest = 0;
  for (const numbers::Estimate& err : found.err) {
    squares += err.value * err.value;
    largest = std::max(largest, std::abs(err.value));
  }
  EXPECT_DOUBLE_EQ(found.norm, std::sqrt(squares));
  EXPECT_EQ(found.largest, largest);
}

TEST(TheStepDifference, OfAConditionalEstimatorAgreesWithQuadrature) {
  const double beta = 0.9;
  const double w = 1 - beta;
  const double mu = 0.4;
  const double m = 0.3;
  const double eps = 1e-3;
  const auto direction = [&](double g) { return beta * m + w * g; };
  const auto square = [&](double g) {
    return beta * beta * (2 - beta * beta) * m * m + w * w * (g + beta * m) * (g + beta * m);
  };
  const auto mean = [&](auto f) { return theory::normal_mean(mu, 1, f); };
  const double ed = mean(direction);
  const double power = mean([&](double g) { return direction(g) * direction(g); });
  const double ev = mean(square);
  const double variance = mean([&](double g) { return square(g) * square(g); }) - ev * ev;
  const double step = mean([&](double g) { return direction(g) / std::sqrt(square(g) + eps); });
  const double covariance = mean([&](double g) { return direction(g) * square(g); }) - ed * ev;
  const double spread = std::sqrt((power - ed * ed) * variance);

  Method method = bcos_c;
  method.eps_root = eps;
  const Drawn data = drawn(method, std::vector{mu}, std::vector{m}, 60000);
  const StepDifference found = step_difference(data.samples(), eps);
  EXPECT_NEAR(found.err[0].value, step - ed / std::sqrt(power), 4.5 * found.err[0].se);
  EXPECT_NEAR(*found.blocks[0].tau, std::abs(ev - power) / power, 0.02);
  EXPECT_NEAR(*found.blocks[0].snr / ((ev + eps) * (ev + eps) / variance), 1, 0.05);
  EXPECT_NEAR(*found.blocks[0].correlation, covariance / spread, 0.02);
  EXPECT_NEAR(*found.blocks[0].relative, found.blocks[0].size / std::abs(found.phi[0]), 1e-12);
  EXPECT_LE(found.amplification, *amplification_bound(method));

  const std::vector<double> phi = {ed / std::sqrt(power)};
  const StepDifference known = step_difference(data.samples(), eps, phi);
  EXPECT_NEAR(known.err[0].value, step - phi[0], 4.5 * known.err[0].se);
}

TEST(TheStepDifference, OfBlocksHasOneEstimateABlock) {
  Method method = sign_sgd;
  method.blocks = Blocks::of(Layout::tensor);
  const std::vector<double> mean = {1, -0.5};
  const Drawn data = drawn(method, mean, {}, 20000);
  const StepDifference found = step_difference(data.samples(), 0);
  ASSERT_EQ(found.blocks.size(), 1U);
  ASSERT_EQ(found.err.size(), 2U);
  const double power = 1.25 + 2;
  EXPECT_NEAR(found.phi[0], 1 / std::sqrt(power), 0.02);
  EXPECT_NEAR(found.blocks[0].size, std::hypot(found.err[0].value, found.err[1].value), 1e-12);
  EXPECT_NEAR(found.amplification, 1, 1e-12);
  // Cov(|d|^2, <d, mu>) = 2|mu|^2, Var|d|^2 = 4 + 4|mu|^2, Var<d, mu> = |mu|^2.
  EXPECT_NEAR(*found.blocks[0].correlation, 2 * 1.25 / std::sqrt((4 + 5) * 1.25), 0.03);
}

TEST(TheStepDifference, HasASignOfItsOwn) {
  // The correlation of d^2 with d is that with |E d|: positive for both signs.
  const StepDifference found =
      step_difference(drawn(sign_sgd, std::vector{1.0, -1.0}, {}, 5000).samples(), 0);
  EXPECT_GT(*found.blocks[0].correlation, 0.5);
  EXPECT_GT(*found.blocks[1].correlation, 0.5);
}

TEST(TheStepDifference, IsMissingWhereItWouldDivideByNothing) {
  const std::vector<float> zeros(4);
  const StepDifference found = step_difference(StepSamples<float>{zeros, zeros, 2}, 0);
  EXPECT_EQ(found.norm, 0);
  EXPECT_FALSE(found.blocks[0].relative);
  EXPECT_FALSE(found.blocks[0].tau);
  EXPECT_FALSE(found.blocks[0].snr);
  EXPECT_FALSE(found.blocks[0].correlation);
  EXPECT_NE(error_of([&] {
              step_difference(StepSamples<float>{zeros, zeros, 1}, 0);
            }).find("two or more"),
            std::string::npos);
}

}  // namespace
}  // namespace bcos::lab::diagnosis
