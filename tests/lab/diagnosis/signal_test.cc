#include "lab/diagnosis/signal.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lab/numbers/statistics.hpp"
#include "lab/theory/noise.hpp"
#include "tests/engine/expect_error.hpp"

namespace bcos::lab::diagnosis {
namespace {

using bcos::testing::error_of;
using numbers::Moments;
using theory::key_of;
using theory::Noise;

constexpr double kErrors = 4.5;

TEST(Kappa, FallsFromOneToItsLimit) {
  EXPECT_EQ(kappa(0.9, 0), 1);
  EXPECT_NEAR(kappa(0.9, 1), 0.81 + 0.1 / 1.9 * 0.19, 1e-15);
  EXPECT_NEAR(kappa(0.9, 10000), 0.1 / 1.9, 1e-15);
  for (const std::uint64_t t : {1, 5, 100}) EXPECT_EQ(kappa(0, t), 1) << "one sample is all";
}

TEST(Kappa, IsTheSumOfTheSquaredWeights) {
  // u_t = beta^t d_0 + (1-beta) sum_{s=1}^t beta^{t-s} d_s.
  const double beta = 0.8;
  for (const int t : {1, 2, 7, 30}) {
    double sum = std::pow(beta, 2 * t);
    for (int s = 1; s <= t; ++s) sum += std::pow((1 - beta) * std::pow(beta, t - s), 2);
    EXPECT_NEAR(kappa(beta, static_cast<std::uint64_t>(t)), sum, 1e-15);
  }
}

TEST(TheSignalFraction, OfKnownSums) {
  const SignalFraction f = signal_fraction(0.28, 1, 0.1);
  EXPECT_DOUBLE_EQ(*f.raw, 0.28);
  EXPECT_NEAR(*f.rho, 0.2, 1e-15);
  EXPECT_NEAR(*f.snr, 0.25, 1e-15);
  EXPECT_NEAR(*f.signal, 0.2, 1e-15);
  EXPECT_NEAR(*f.noise, 0.8, 1e-15);
}

TEST(TheSignalFraction, IsClampedAndItsPowersAreNot) {
  const SignalFraction below = signal_fraction(0.01, 1, 0.1);
  EXPECT_EQ(below.rho, 0);
  EXPECT_EQ(below.snr, 0);
  EXPECT_NEAR(*below.signal, -0.1, 1e-15);
  const SignalFraction all = signal_fraction(1, 1, 0.1);
  EXPECT_EQ(all.rho, 1);
  EXPECT_FALSE(all.snr);
  EXPECT_EQ(signal_fraction(1 + 1e-9, 1, 0.1).raw, 1);
}

TEST(TheSignalFraction, IsMissingWhereNothingCanBeSaid) {
  const SignalFraction nothing = signal_fraction(0, 0, 0.1);
  EXPECT_FALSE(nothing.raw);
  EXPECT_FALSE(nothing.rho);
  const SignalFraction first = signal_fraction(1, 1, 1);
  EXPECT_EQ(first.raw, 1);
  EXPECT_FALSE(first.rho);
  EXPECT_FALSE(first.signal);
}

/// u and v after t + 1 samples of d = mean + sd z in R^n, many times.
template <class T>
void expect_unbiased(double mean, double sd, std::uint64_t t, std::size_t n, double beta) {
  numbers::Moments raw_power;
  numbers::Moments power;
  numbers::Moments signal(mean * mean * static_cast<double>(n));
  numbers::Moments noise(sd * sd * static_cast<double>(n));
  for (std::uint64_t r = 0; r < 20000; ++r) {
    SignalAverages<T> averages(n, beta, n);
    std::vector<T> d(n);
    for (std::uint64_t s = 0; s <= t; ++s) {
      theory::Noise z(theory::key_of("signal"), r, s);
      for (T& value : d) value = static_cast<T>(mean + sd * z.normal());
      averages.add(d);
    }
    const SignalSums sums = averages.sums();
    EXPECT_EQ(averages.kappa(), kappa(beta, t));
    EXPECT_LE(sums.u_squared, sums.v * (1 + 1e-6));
    const SignalFraction f = signal_fraction(sums.u_squared, sums.v, averages.kappa());
    raw_power.add(sums.u_squared);
    power.add(sums.v);
    signal.add(*f.signal);
    noise.add(*f.noise);
  }
  const auto expect = [](const numbers::Moments& seen, double truth) {
    EXPECT_NEAR(seen.mean().value, truth, kErrors * seen.mean().se);
  };
  const auto size = static_cast<double>(n);
  expect(signal, size * mean * mean);
  expect(noise, size * sd * sd);
  expect(power, size * (mean * mean + sd * sd));
  // The bias that kappa takes away is there.
  expect(raw_power, size * (mean * mean + kappa(beta, t) * sd * sd));
  if (mean < sd) {
    EXPECT_GT(raw_power.mean().value, size * mean * mean + 20 * raw_power.mean().se);
  }
}

TEST(TheSignalFraction, HasUnbiasedPowersUnderNoise) {
  expect_unbiased<double>(0, 1, 3, 1, 0.9);
  expect_unbiased<double>(0.3, 2, 12, 3, 0.8);
  expect_unbiased<float>(0.3, 1, 30, 2, 0.9);
}

TEST(TheSignalAverages, OfBlocksAddUp) {
  SignalAverages<double> averages(6, 0.5, 2);
  averages.add(std::vector<double>{1, 2, 0, 0, 3, -1});
  averages.add(std::vector<double>{1, 2, 0, 0, -3, 1});
  averages.add(std::vector<double>{1, 2, 0, 0, 3, -1});
  const SignalSums steady = averages.block(0);
  EXPECT_DOUBLE_EQ(steady.u_squared, 5);
  EXPECT_DOUBLE_EQ(steady.v, 5);
  EXPECT_EQ(steady.silent, 0U);
  EXPECT_EQ(averages.block(1).silent, 1U) << "nothing came";
  // u = (1/4 - 1/4 + 1/2) d_0, kappa = 1/16 + 1/3 15/16 = 3/8.
  EXPECT_DOUBLE_EQ(averages.block(2).u_squared, 10.0 / 4);
  EXPECT_DOUBLE_EQ(averages.kappa(), 0.375);
  EXPECT_EQ(averages.block(2).silent, 1U);
  const SignalSums all = averages.sums();
  EXPECT_DOUBLE_EQ(all.u_squared, 7.5);
  EXPECT_DOUBLE_EQ(all.v, 15);
  EXPECT_EQ(all.blocks, 3U);
  EXPECT_EQ(all.silent, 2U);
}

TEST(TheSignalAverages, CallAboutTwoThirdsOfPureNoiseSilent) {
  // A normal variable is within one deviation 68 times in a hundred.
  const std::size_t n = 20000;
  SignalAverages<float> averages(n, 0.9);
  std::vector<float> d(n);
  for (std::uint64_t s = 0; s < 200; ++s) {
    theory::Noise z(theory::key_of("silent"), 0, s);
    for (float& value : d) value = static_cast<float>(z.normal());
    averages.add(d);
  }
  EXPECT_NEAR(static_cast<double>(averages.sums().silent) / n, 0.66, 0.02);
}

TEST(TheSignalAverages, RefuseOtherSizes) {
  EXPECT_NE(error_of([] { SignalAverages<float>(5, 0.9, 2); }).find("blocks of one size"),
            std::string::npos);
  SignalAverages<float> averages(4, 0.9);
  EXPECT_NE(error_of([&] { averages.add(std::vector<float>(3)); }).find("expected 4 elements"),
            std::string::npos);
}

}  // namespace
}  // namespace bcos::lab::diagnosis
