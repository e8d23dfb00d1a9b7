#include "lab/numbers/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "lab/theory/findings.hpp"
#include "lab/theory/noise.hpp"
#include "lab/theory/numerics.hpp"

namespace bcos::lab::numbers {
namespace {

TEST(Noise, IsAFunctionOfItsPlaceAlone) {
  theory::Noise a(1, 2, 3);
  theory::Noise b(1, 2, 3);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(a.normal(), b.normal());
  const double first = theory::Noise(1, 2, 3).uniform();
  EXPECT_NE(first, theory::Noise(2, 2, 3).uniform());
  EXPECT_NE(first, theory::Noise(1, 3, 3).uniform());
  EXPECT_NE(first, theory::Noise(1, 2, 4).uniform());
}

TEST(Noise, HasTheMomentsOfItsLaw) {
  Moments uniform;
  Moments normal;
  Moments exponential;
  for (std::uint64_t i = 0; i < 200000; ++i) {
    theory::Noise noise(theory::key_of("moments"), i, 0);
    uniform.add(noise.uniform());
    normal.add(noise.normal());
    normal.add(noise.normal());
    exponential.add(noise.exponential());
  }
  const auto expect = [](const Moments& seen, double mean, double variance) {
    EXPECT_NEAR(seen.mean().value, mean, 4.5 * seen.mean().se);
    EXPECT_NEAR(seen.variance().value, variance, 4.5 * seen.variance().se);
  };
  expect(uniform, 0.5, 1.0 / 12);
  expect(normal, 0, 1);
  expect(exponential, 1, 1);
}

TEST(Moments, OfAKnownSample) {
  Moments moments(1);
  for (const double value : {1.0, 2.0, 3.0, 4.0}) moments.add(value);
  EXPECT_DOUBLE_EQ(moments.mean().value, 2.5);
  EXPECT_DOUBLE_EQ(moments.mean().se, std::sqrt(5.0 / 3 / 4));
  EXPECT_DOUBLE_EQ(moments.variance().value, 5.0 / 3);
  // mu4 = 2.5625, var = 1.25
  EXPECT_DOUBLE_EQ(moments.variance().se, std::sqrt((2.5625 - 1.5625) / 4));
}

TEST(Statistics, KnowTheNormalLaw) {
  EXPECT_NEAR(normal_quantile(0.025), 1.959963984540054, 1e-12);
}

TEST(Statistics, AllowMoreErrorsTheMoreIsCompared) {
  EXPECT_EQ(allowed_errors(0), 4.5);
  EXPECT_EQ(allowed_errors(1), 4.5);
  double before = 0;
  for (std::size_t count = 1; count < 1'000'000; count *= 3) {
    const double allowed = allowed_errors(count);
    EXPECT_GE(allowed, before);
    // All together fail once in 10,000 runs, or more seldom.
    const double alarm = std::erfc(allowed / std::numbers::sqrt2) * static_cast<double>(count);
    EXPECT_LE(alarm, 1.0001e-4);
    before = allowed;
  }
}

TEST(Statistics, KnowHowLargeTheLargestOfABatchIs) {
  const Estimate largest = largest_in_batches(std::vector{1.0, 5.0, 2.0, 3.0, 7.0, 0.0}, 3);
  EXPECT_DOUBLE_EQ(largest.value, (5.0 + 3 + 7) / 3);
  EXPECT_DOUBLE_EQ(largest.se, 2 / std::sqrt(3.0));
}

TEST(Statistics, ASlopeAndAShare) {
  EXPECT_NEAR(slope_of(std::vector{1.0, 2.0, 4.0}, std::vector{1.0, 3.0, 7.0}), 2, 1e-14);
  EXPECT_DOUBLE_EQ(share_of(25, 100).se, std::sqrt(0.25 * 0.75 / 100));
  EXPECT_GT(share_of(0, 100).se, 0);
}

TEST(Numerics, IntegrateAgainstTheNormalLaw) {
  EXPECT_NEAR(theory::normal_mean(0, 1, [](double x) { return x * x * x * x; }), 3, 1e-12);
  EXPECT_NEAR(theory::normal_mean(1, 2, [](double x) { return x * x; }), 5, 1e-12);
  EXPECT_NEAR(theory::normal_mean(0, 1, [](double x) { return std::cos(x); }), std::exp(-0.5),
              1e-13);
}

TEST(Numerics, FindARoot) {
  EXPECT_EQ(theory::increasing_root([](double x) { return x * x - 2; }, 0, 2), std::numbers::sqrt2);
}

TEST(Check, AllowsWhatItSays) {
  theory::Findings findings;
  findings.equal("sampled", {1.4, 0.1}, 1);
  findings.at_most("bound", {1.4, 0.1}, 1);
  findings.at_least("bound", {0.6, 0.1}, 1);
  EXPECT_TRUE(findings.pass());
  EXPECT_FALSE(findings.caught());
  findings.equal("sampled", {1.5, 0.1}, 1);
  EXPECT_FALSE(findings.pass());
  EXPECT_FALSE(findings.caught());
  findings.equal("sampled", {2.1, 0.1}, 1);
  EXPECT_TRUE(findings.caught());
}

TEST(Check, AllowsRoundingAloneUnlessItSaysMore) {
  theory::Findings findings;
  EXPECT_DOUBLE_EQ(findings.equal("computed", {1}, 1).slack, 2e-12);
  EXPECT_DOUBLE_EQ(findings.at_most("computed", {1}, -3).slack, 4e-12);
  EXPECT_DOUBLE_EQ(findings.at_least("computed", {1}, 1, 1e-3).slack, 1e-3);
}

TEST(Check, CountsAWorstOfManyAsSoMany) {
  theory::Findings findings;
  findings.equal("one", {1.47, 0.1}, 1);
  EXPECT_FALSE(findings.pass());
  theory::Findings many;
  many.equal("the worst of 1000", {1.47, 0.1}, 1).among = 1000;
  EXPECT_TRUE(many.pass());
  EXPECT_EQ(many.errors(), allowed_errors(1000));
}

TEST(Check, OfAQuotedFigureMustHoldAndCatchesNothingAlone) {
  theory::Findings findings;
  theory::Findings::as_quoted(findings.equal("quoted", {2}, 1, 1e-6));
  EXPECT_FALSE(findings.pass());
  EXPECT_FALSE(findings.caught());
}

TEST(Check, TreatsNotANumberAsWrong) {
  theory::Findings findings;
  findings.at_most("not a number", {NAN}, 1);
  EXPECT_FALSE(findings.pass());
}

TEST(Check, ExpectsOfAPrintedFormWhatItsErratumSays) {
  theory::Findings findings;
  theory::Findings::as_printed(findings.equal("wrong in print", {2}, 1), false);
  EXPECT_TRUE(findings.pass());
  theory::Findings::as_printed(findings.equal("right in print", {1}, 1), false);
  EXPECT_FALSE(findings.pass());
  EXPECT_FALSE(findings.caught());
}

}  // namespace
}  // namespace bcos::lab::numbers
