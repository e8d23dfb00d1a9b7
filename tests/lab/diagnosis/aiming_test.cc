#include "lab/diagnosis/aiming.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "bcos/methods.hpp"
#include "lab/diagnosis/amplification.hpp"
#include "lab/theory/formulas.hpp"
#include "lab/theory/noise.hpp"
#include "tests/engine/expect_error.hpp"
#include "tests/engine/stepper.hpp"

namespace bcos::lab::diagnosis {
namespace {

using bcos::testing::error_of;
using bcos::testing::Stepper;
using theory::key_of;
using theory::Noise;

template <class T>
Aim aim(const std::vector<T>& x, const std::vector<T>& ref, const std::vector<T>& w,
        double lambda = 0) {
  return aim_of<T>(x, ref, w, lambda);
}

TEST(Aiming, OfKnownVectors) {
  const Aim known = aim<float>({3, 1, 0}, {1, 1, 1}, {2, 5, 1});
  EXPECT_EQ(known.inner, 3);
  EXPECT_EQ(known.e_squared, 5);
  EXPECT_EQ(known.w_squared, 30);
  EXPECT_NEAR(*known.cosine(), 3 / std::sqrt(150.0), 1e-15);
  const Aim decayed = aim<double>({3, 1}, {1, 1}, {2, 5}, 0.5);
  EXPECT_EQ(decayed.inner, 2 * 3.5);
  EXPECT_EQ(decayed.w_squared, 3.5 * 3.5 + 5.5 * 5.5);
}

TEST(Aiming, HasNoCosineWhereANormIsZero) {
  EXPECT_FALSE(aim<double>({1, 2}, {1, 2}, {1, 1}).cosine());
  EXPECT_FALSE(aim<double>({1, 2}, {0, 0}, {0, 0}).cosine());
  EXPECT_FALSE(aim<double>({}, {}, {}).cosine());
  EXPECT_NEAR(*aim<double>({1e-150, 0}, {0, 0}, {-1e-100, 0}).cosine(), -1, 1e-12)
      << "small is not zero";
}

TEST(Aiming, OfPartsAddsUpToTheWhole) {
  std::vector<double> x(50);
  std::vector<double> ref(50);
  std::vector<double> w(50);
  theory::Noise z(theory::key_of("parts"), 0, 0);
  for (auto* list : {&x, &ref, &w}) {
    for (double& value : *list) value = z.normal();
  }
  Aim sum;
  for (const auto& [begin, size] : {std::pair<std::size_t, std::size_t>{0, 20}, {20, 30}}) {
    const auto part = [&, b = begin, s = size](const std::vector<double>& v) {
      return std::span(v).subspan(b, s);
    };
    sum += aim_of<double>(part(x), part(ref), part(w), 0.3);
  }
  const Aim whole = aim(x, ref, w, 0.3);
  EXPECT_NEAR(sum.inner, whole.inner, 1e-12);
  EXPECT_NEAR(*sum.cosine(), *whole.cosine(), 1e-14);
}

TEST(TheAimingMargin, IsTheInnerProductWithDirectionAndReference) {
  const std::vector<double> x = {1, -2, 0.5};
  const std::vector<double> ref = {0.3, 0.4, 0};
  const std::vector<double> w = {0.5, -1, 0.25};
  const double lambda = 0.7;
  double expected = 0;
  for (std::size_t i = 0; i < 3; ++i) expected += (x[i] - ref[i]) * (w[i] + lambda * ref[i]);
  EXPECT_NEAR(aiming_margin(aim(x, ref, w, lambda), lambda), expected, 1e-15);
}

TEST(TheAimingMargin, OfPhiAgreesWithTheTheory) {
  for (const theory::NamedProblem& named : theory::problems()) {
    const auto problem = named.make();
    const double lambda = problem->lambda();
    const auto target = problem->target(lambda);
    if (!target) continue;
    theory::Vector x = problem->start();
    theory::Vector mean(problem->size());
    theory::Vector second(problem->blocks());
    if (!problem->moments(x, mean, second)) continue;
    const theory::Vector phi = theory::phi_of(*problem, x);
    EXPECT_NEAR(aiming_margin(aim(x, *target, phi, lambda), lambda),
                theory::aiming_margin(*problem, x, lambda, *target), 1e-12)
        << named.id;
  }
}

/// The direction of a step, from d and v alone, is what the engine moved x by.
template <class T>
void expect_the_engines_step(Method method, double tolerance) {
  method.decay = Decay::none;
  const double alpha = 0.25;
  Stepper<T> stepper(method, std::vector<T>(6, T(1)), {3, 2});
  stepper.tap();
  for (std::uint64_t t = 0; t < 5; ++t) {
    theory::Noise z(theory::key_of("engine"), 0, t);
    std::vector<T> g(6);
    for (T& value : g) value = static_cast<T>(z.normal() * 1e-5);
    g[3] = 0;
    stepper.step(g, alpha);
    std::vector<T> direction(6);
    normalised<T>(stepper.d(), stepper.estimate(), method.eps_root, method.eps, direction);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(alpha * direction[i], stepper.moved()[i], tolerance) << name_of(method) << i;
    }
  }
}

TEST(TheNormalisedDirection, IsTheEnginesStepOverAlpha) {
  for (const Method& method : {bcosw_c, bcos_m, adamw, adams, sign_momentum, sgd_momentum}) {
    expect_the_engines_step<double>(method, 1e-15);
    expect_the_engines_step<float>(method, 1e-6);
  }
  Method rows = bcosw_c;
  rows.blocks = Blocks::of(Layout::row);
  expect_the_engines_step<double>(rows, 1e-15);
}

TEST(TheNormalisedDirection, OfNothingIsNothingAndOfAVanishedSquareASign) {
  std::vector<float> out(3);
  normalised<float>(std::vector<float>{0, -1e-30F, 1e-30F}, std::vector<float>{0, 0, 0}, 0, 0, out);
  EXPECT_EQ(out, (std::vector<float>{0, -1, 1}));
  EXPECT_NE(error_of([&] {
              normalised<float>(std::vector<float>(3), std::vector<float>(2), 0, 0, out);
            }).find("blocks of one size"),
            std::string::npos);
}

TEST(Amplification, OfKnownBlocks) {
  const Amplification seen =
      amplification<double>(std::vector<double>{3, 4, 0, 1}, std::vector<double>{100, 0.25});
  EXPECT_EQ(seen.largest, 2);
  EXPECT_EQ(seen.mean(), 1.25);
  Amplification both = seen;
  both += amplification<double>(std::vector<double>{5}, std::vector<double>{1});
  EXPECT_EQ(both.largest, 5);
  EXPECT_EQ(both.mean(), 2.5);
  EXPECT_FALSE(Amplification{}.mean());
}

TEST(Amplification, LeavesOutSquaresThatVanished) {
  const Amplification seen =
      amplification<float>(std::vector<float>{1e-20F, 1e-23F, 1}, std::vector<float>{1e-40F, 0, 4});
  EXPECT_EQ(seen.blocks, 1U);
  EXPECT_EQ(seen.largest, 0.5);
}

/// The largest |d|/sqrt(v) of a method that sees little for 200 steps and then ones.
double burst_peak(const Method& method) {
  Stepper<double> stepper(method, {1.0});
  stepper.tap();
  Amplification seen;
  for (int t = 0; t < 300; ++t) {
    stepper.step({t < 200 ? 1e-6 : 1.0}, 0.01);
    seen += amplification<double>(stepper.d(), stepper.estimate());
  }
  return seen.largest;
}

TEST(Amplification, StaysBelowItsBoundAndComesNear) {
  const auto near = [](const Method& method, double peak) {
    const double seen = burst_peak(method);
    EXPECT_NEAR(seen, peak, 6e-4);
    EXPECT_LE(seen, *amplification_bound(method) * (1 + 1e-12));
  };
  near(bcosw_m, 3.162);
  near(with(adamw, {.start = Start::first, .beta_v = 0.99}), 2.131);
  near(bcosw_c, 1.295);
}

}  // namespace
}  // namespace bcos::lab::diagnosis
