#include "lab/diagnosis/sampling.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/theory/noise.hpp"
#include "tests/engine/expect_error.hpp"

namespace bcos::lab::diagnosis {
namespace {

using bcos::testing::error_of;
using numbers::Moments;
using theory::key_of;
using theory::Noise;

constexpr double kErrors = 4.5;

void expect_mean(const numbers::Moments& seen, double truth) {
  EXPECT_NEAR(seen.mean().value, truth, kErrors * seen.mean().se);
}

/// g = mean + sd z with skew: an exponential, so that nothing is right for normal samples alone.
template <class T>
std::vector<T> drawn(std::uint64_t replicate, std::span<const double> mean, double sd,
                     std::size_t count) {
  std::vector<T> values;
  theory::Noise z(theory::key_of("sampling"), replicate, 0);
  for (std::size_t j = 0; j < count; ++j) {
    for (const double centre : mean) {
      values.push_back(static_cast<T>(centre + sd * (z.exponential() - 1)));
    }
  }
  return values;
}

TEST(SampledMoments, OfKnownSamples) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 9};  // (1,2), (3,4), (5,9)
  const Samples<double> samples{values, 3};
  const SampledMoments all = sampled_moments(samples);
  EXPECT_DOUBLE_EQ(all.mean_squared, 34);  // (3, 5)
  EXPECT_DOUBLE_EQ(all.variance, (4 + 9 + 0 + 1 + 4 + 16) / 2.0);
  EXPECT_DOUBLE_EQ(all.signal(), 34 - 17.0 / 3);
  EXPECT_DOUBLE_EQ(all.power(), (1 + 4 + 9 + 16 + 25 + 81) / 3.0);
  EXPECT_DOUBLE_EQ(*all.rho(), all.signal() / all.power());
  const std::vector<SampledMoments> each = sampled_moments(samples, 2);
  EXPECT_DOUBLE_EQ(each[0].variance, 4);
  EXPECT_DOUBLE_EQ(each[1].variance, 13);
  SampledMoments sum;
  for (const SampledMoments& block : each) sum += block;
  EXPECT_DOUBLE_EQ(sum.signal(), all.signal());
}

TEST(SampledMoments, OfNoiseMayBeBelowZeroButRhoIsNot) {
  const std::vector<float> values = {1, -1};
  const SampledMoments moments = sampled_moments(Samples<float>{values, 2});
  EXPECT_EQ(moments.signal(), -1);
  EXPECT_EQ(moments.rho(), 0);
  const std::vector<float> zeros = {0, 0};
  EXPECT_FALSE(sampled_moments(Samples<float>{zeros, 2}).rho());
}

TEST(SampledMoments, AreUnbiased) {
  const std::vector<double> mean = {0.5, -0.2};
  const std::vector<double> m = {1, 0.3};
  const double sd = 1.5;
  const double beta = 0.8;
  for (const std::size_t count : {2, 5}) {
    numbers::Moments signal;
    numbers::Moments power;
    numbers::Moments variance;
    numbers::Moments momentum_signal;
    numbers::Moments momentum_power;
    for (std::uint64_t r = 0; r < 40000; ++r) {
      const std::vector<double> values = drawn<double>(r, mean, sd, count);
      const SampledMoments moments = sampled_moments(Samples<double>{values, count});
      signal.add(moments.signal());
      power.add(moments.power());
      variance.add(moments.variance);
      const SampledMoments moved =
          momentum_moments<double>(Samples<double>{values, count}, m, beta);
      momentum_signal.add(moved.signal());
      momentum_power.add(moved.power());
    }
    expect_mean(signal, 0.29);
    expect_mean(variance, 2 * sd * sd);
    expect_mean(power, 0.29 + 2 * sd * sd);
    const double q = std::pow(0.8 * 1 + 0.2 * 0.5, 2) + std::pow(0.8 * 0.3 - 0.2 * 0.2, 2);
    expect_mean(momentum_signal, q);
    expect_mean(momentum_power, q + 0.04 * 2 * sd * sd);
  }
}

TEST(SampledMoments, OfMomentumAreThoseOfItsSamples) {
  const std::vector<float> gradients = {1, 2, -3, 0.5, 0, 4};
  const std::vector<float> m = {0.5, -1};
  std::vector<float> momenta;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    momenta.push_back(0.75F * m[i % 2] + 0.25F * gradients[i]);
  }
  const SampledMoments direct = sampled_moments(Samples<float>{momenta, 3});
  const SampledMoments formula = momentum_moments<float>(Samples<float>{gradients, 3}, m, 0.75);
  EXPECT_NEAR(formula.mean_squared, direct.mean_squared, 1e-6);
  EXPECT_NEAR(formula.variance, direct.variance, 1e-6);
}

TEST(TheJackknife, OfAMeanIsTheUsualError) {
  const std::vector<double> sample = {1, 4, 2, 8, 5};
  const double sum = 20;
  std::vector<double> without_one;
  for (const double value : sample) without_one.push_back((sum - value) / 4);
  const numbers::Estimate found = jackknife(sum / 5, without_one);
  const numbers::Estimate usual = numbers::mean_of(sample);
  EXPECT_NEAR(found.value, usual.value, 1e-14);
  EXPECT_NEAR(found.se, usual.se, 1e-14);
}

TEST(TheJackknife, TakesTheBiasFromARatioAndKnowsItsError) {
  // a = 1 + z/4, b = a + z'/4: the ratio of the means of 20 is biased up.
  numbers::Moments taken;
  numbers::Moments corrected(1);
  numbers::Moments errors;
  for (std::uint64_t r = 0; r < 30000; ++r) {
    theory::Noise z(theory::key_of("ratio"), r, 0);
    std::vector<double> a;
    std::vector<double> b;
    double above = 0;
    double below = 0;
    for (int j = 0; j < 20; ++j) {
      a.push_back(1 + z.normal() / 4);
      b.push_back(a.back() + z.normal() / 4);
      above += a.back();
      below += b.back();
    }
    const numbers::Estimate ratio = ratio_of_means(a, b);
    taken.add(above / below - ratio.value);
    corrected.add(ratio.value);
    errors.add(ratio.se * ratio.se);
  }
  // E A/B - 1 is (Var b - Cov(a, b)) / 20 to first order.
  const double bias = 1.0 / 16 / 20;
  EXPECT_NEAR(taken.mean().value / bias, 1, 0.1);
  EXPECT_NEAR(corrected.mean().value, 1, kErrors * corrected.mean().se + 0.05 * bias);
  EXPECT_NEAR(errors.mean().value / corrected.variance().value, 1, 0.1);
}

TEST(TheJackknife, OfRhoIsThatOfLeavingOutEachSample) {
  const std::vector<double> mean = {1, 0.5, 0};
  const std::size_t count = 6;
  const std::vector<double> values = drawn<double>(3, mean, 0.7, count);
  std::vector<double> without_one;
  for (std::size_t j = 0; j < count; ++j) {
    std::vector<double> others;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i / 3 != j) others.push_back(values[i]);
    }
    const SampledMoments moments = sampled_moments(Samples<double>{others, count - 1});
    without_one.push_back(moments.signal() / moments.power());
  }
  const SampledMoments whole = sampled_moments(Samples<double>{values, count});
  const numbers::Estimate expected = jackknife(whole.signal() / whole.power(), without_one);
  const numbers::Estimate found = sampled_rho(Samples<double>{values, count});
  EXPECT_NEAR(found.value, expected.value, 1e-12);
  EXPECT_NEAR(found.se, expected.se, 1e-12);
}

TEST(TheJackknife, OfRhoCoversTheTruth) {
  const std::vector<double> mean = {0.5, 0.5};
  const double truth = 0.5 / (0.5 + 2);
  int covered = 0;
  const int trials = 2000;
  for (int r = 0; r < trials; ++r) {
    const std::vector<float> values = drawn<float>(static_cast<std::uint64_t>(r), mean, 1, 60);
    const numbers::Estimate rho = sampled_rho(Samples<float>{values, 60});
    if (std::abs(rho.value - truth) <= 2 * rho.se) ++covered;
  }
  EXPECT_NEAR(covered / static_cast<double>(trials), 0.95, 0.04);
}

TEST(Sampling, RefusesWhatIsNoSample) {
  const std::vector<double> values(7);
  EXPECT_NE(error_of([&] { sampled_moments(Samples<double>{values, 1}); }).find("at least 2"),
            std::string::npos);
  EXPECT_NE(error_of([&] { sampled_moments(Samples<double>{values, 2}); }).find("of one size"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              sampled_rho(Samples<double>{std::span(values).first(2), 2});
            }).find("at least 3"),
            std::string::npos);
  EXPECT_NE(error_of([&] { ratio_of_means(values, {}); }).find("pairs"), std::string::npos);
}

}  // namespace
}  // namespace bcos::lab::diagnosis
