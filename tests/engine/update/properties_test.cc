#include <gtest/gtest.h>

#include <algorithm>

#include "bcos/methods.hpp"
#include "bcos/text.hpp"
#include "tests/engine/bits.hpp"
#include "tests/engine/random_numbers.hpp"
#include "tests/engine/stepper.hpp"

namespace bcos::testing {
namespace {

template <class T>
std::vector<std::vector<T>> gradients_of(std::uint64_t seed, int steps, std::size_t n) {
  Random random(seed);
  std::vector<std::vector<T>> gradients;
  for (int t = 0; t < steps; ++t) gradients.push_back(random.numbers<T>(n));
  return gradients;
}

template <class T>
std::vector<T> run(const Method& method, std::vector<T> x,
                   const std::vector<std::vector<T>>& gradients, double factor = 1,
                   double alpha = 0.01, std::vector<std::int64_t> shape = {}) {
  Stepper<T> stepper(method, std::move(x), std::move(shape));
  for (std::vector<T> g : gradients) {
    for (T& value : g) value = static_cast<T>(value * factor);
    stepper.step(g, alpha);
  }
  return stepper.x();
}

std::vector<Method> adaptive_methods() {
  std::vector<Method> methods;
  for (const NamedMethod& named : named_methods()) {
    if (named.method->estimator != Estimator::constant) methods.push_back(*named.method);
  }
  return methods;
}

Method without_eps(Method method) {
  method.eps = 0;
  method.eps_root = 0;
  return method;
}

constexpr std::size_t kN = 200;

/// 1 - alpha lambda, rounded to float32, is 1 below 3e-8; the sum delta x + gamma d still decays.
TEST(DecoupledDecay, IsWhatWasAskedForHoweverSmall) {
  constexpr std::size_t n = 200'000;
  const auto g = gradients_of<float>(5, 1, n);
  for (const Layout layout : {Layout::coordinate, Layout::tensor}) {
    for (const double lambda : {2e-5, 4e-5, 1e-4, 1e-3}) {
      Method decayed = bcosw_c;
      decayed.blocks = Blocks::of(layout);
      decayed.block_gain = BlockGain::sqrt;
      decayed.eps_root = 1;  // moves in proportion to the gradient: no two weights round alike
      decayed.lambda = lambda;
      Method bare = decayed;
      bare.lambda = 0;
      const std::vector<float> x(n, 0.75F);
      const auto with = run(decayed, x, g, 1, 1e-3);
      const auto without = run(bare, x, g, 1, 1e-3);
      double decay = 0;
      for (std::size_t i = 0; i < n; ++i) decay += double(without[i]) - double(with[i]);
      EXPECT_NEAR(decay / double(n) / (0.75e-3 * lambda), 1, 0.02) << lambda;
    }
  }
}

TEST(AStep, IsFreeOfTheScaleOfTheGradient) {
  const auto gradients = gradients_of<float>(1, 12, kN);
  const auto x = Random(2).numbers<float>(kN);
  std::vector<Method> methods = adaptive_methods();
  Method two_est = bcosw_m;
  two_est.rule = StepRule::two_est;
  methods.push_back(two_est);
  for (Method method : methods) {
    method = without_eps(method);
    if (method.decay == Decay::coupled) method.lambda = 0;
    for (const Layout layout : {Layout::coordinate, Layout::tensor}) {
      method.blocks = Blocks::of(layout);
      const auto plain = run(method, x, gradients);
      for (const double factor : {0x1p-12, 0x1p9, 0x1p15}) {
        EXPECT_TRUE(same_bits(plain, run(method, x, gradients, factor)))
            << to_json(method) << " times " << factor;
      }
    }
  }
}

TEST(AStep, TurnsAroundWithTheSignOfEverything) {
  const auto gradients = gradients_of<float>(3, 8, kN);
  const auto x = Random(4).numbers<float>(kN);
  std::vector<float> negative = x;
  for (float& value : negative) value = -value;
  for (const NamedMethod& named : named_methods()) {
    for (const double lambda : {0.0, 0.1}) {
      Method method = *named.method;
      method.lambda = lambda;
      auto turned = run(method, negative, gradients, -1);
      for (float& value : turned) value = -value;
      EXPECT_TRUE(same_bits(run(method, x, gradients), turned)) << named.id;
    }
  }
}

TEST(AStep, PermutesWithItsCoordinates) {
  const auto gradients = gradients_of<float>(5, 8, kN);
  const auto x = Random(6).numbers<float>(kN);
  const auto reversed = [](std::vector<float> values) {
    std::ranges::reverse(values);
    return values;
  };
  std::vector<std::vector<float>> backwards;
  for (const auto& g : gradients) backwards.push_back(reversed(g));
  for (const NamedMethod& named : named_methods()) {
    EXPECT_TRUE(same_bits(reversed(run(*named.method, x, gradients)),
                          run(*named.method, reversed(x), backwards)))
        << named.id;
  }
}

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

TEST(TheConditionalEstimate, IsTheSameInAllFiveForms) {
  Random random(7);
  for (const double beta : {0.0, 0.3, 0.9, 0.99, 0.999}) {
    for (int round = 0; round < 50; ++round) {
      Method method = bcos_c;
      method.beta = beta;
      method.blocks = Blocks::of(Layout::tensor);
      Stepper<double> stepper(method, random.numbers<double>(5));
      stepper.step(random.numbers<double>(5), 0.01);
      const std::vector<double> m = stepper.m();
      const std::vector<double> g = random.numbers<double>(5, std::ldexp(1, round % 9 - 4));
      stepper.tap();
      stepper.step(g, 0.01);
      const std::vector<double> M = stepper.d();
      const double w = 1 - beta;
      const double mm = inner(m, m), mM = inner(m, M), gg = inner(g, g), mg = inner(m, g);
      const double MM = inner(M, M), Mg = inner(M, g);
      const double one = beta * beta * mm + 2 * beta * w * mM + w * w * gg;
      const double two = beta * beta * (3 - 2 * beta) * mm + 2 * beta * w * w * mg + w * w * gg;
      const double three = (3 - 2 * beta) * MM - 2 * w * (2 - beta) * Mg + 2 * w * w * gg;
      double five = w * w * (2 - beta * beta) / (3 - 2 * beta) * gg;
      for (std::size_t i = 0; i < 5; ++i) {
        const double z = M[i] - w * (2 - beta) / (3 - 2 * beta) * g[i];
        five += (3 - 2 * beta) * z * z;
      }
      const double v = stepper.estimate()[0];
      for (const double form : {one, two, three, five}) EXPECT_NEAR(form / v, 1, 1e-13);
    }
  }
}

TEST(ABlocksEstimate, IsTheSumOverItsCoordinates) {
  const auto gradients = gradients_of<double>(8, 5, kN);
  const auto x = Random(9).numbers<double>(kN);
  for (Method method : adaptive_methods()) {
    Stepper<double> coordinates(method, x);
    method.blocks = Blocks::of(Layout::tensor);
    Stepper<double> block(method, x);
    if (method.decay == Decay::coupled && method.lambda != 0) continue;
    coordinates.tap();
    block.tap();
    for (const auto& g : gradients) {
      coordinates.step(g, 0);  // x stays where it is, so both see the same
      block.step(g, 0);
      const double sum =
          std::accumulate(coordinates.estimate().begin(), coordinates.estimate().end(), 0.0);
      EXPECT_NEAR(block.estimate()[0] / sum, 1, 1e-13) << to_json(method);
    }
  }
}

TEST(Beta0, MakesTheConditionalEstimatesInstant) {
  const auto gradients = gradients_of<float>(10, 6, kN);
  const auto x = Random(11).numbers<float>(kN);
  const auto with_beta_0 = [&](Method method) {
    method.beta = 0;
    method.eps = 0;
    method.eps_root = 1e-12;
    return run(method, x, gradients);
  };
  const auto instant = with_beta_0(sign_momentum);
  EXPECT_TRUE(same_bits(instant, with_beta_0(bcos_c)));
  EXPECT_TRUE(same_bits(instant, with_beta_0(bcos_c_simple)));
  EXPECT_TRUE(same_bits(with_beta_0(bcos_g), with_beta_0(bcos_m)));
  Method rmsprop = bcos_g;
  rmsprop.beta_v = adam.beta_v;
  EXPECT_TRUE(same_bits(with_beta_0(rmsprop), with_beta_0(adam)));
  Method average = bcos_m;
  average.beta_v = 0;
  EXPECT_TRUE(same_bits(instant, with_beta_0(average)));
}

TEST(TwoEstimators, KeepUBelowTheRootOfV) {
  Method method = bcosw_m;
  method.rule = StepRule::two_est;
  for (const Start start : {Start::first, Start::zero, Start::zero_corrected}) {
    method.start = start;
    Stepper<double> stepper(method, Random(12).numbers<double>(kN));
    for (const auto& g : gradients_of<double>(13, 40, kN)) {
      stepper.step(g, 0.01);
      for (std::size_t i = 0; i < kN; ++i) {
        EXPECT_LE(stepper.u()[i] * stepper.u()[i], stepper.v()[i] * (1 + 1e-12));
      }
    }
  }
}

TEST(TwoEstimators, KeepUOfABlockBelowTheRootOfItsV) {
  Method method = bcosw_m;
  method.rule = StepRule::two_est;
  method.blocks = Blocks::of(Layout::tensor);
  for (const Start start : {Start::first, Start::zero, Start::zero_corrected}) {
    method.start = start;
    Stepper<double> stepper(method, Random(12).numbers<double>(kN));
    for (const auto& g : gradients_of<double>(13, 40, kN)) {
      stepper.step(g, 0.01);
      double square = 0;
      for (const double u : stepper.u()) square += u * u;
      EXPECT_LE(square, stepper.v()[0] * (1 + 1e-12));
    }
  }
}

TEST(AConstantGradient, GivesSignStepsForEver) {
  const auto g = Random(14).numbers<double>(kN);
  for (Method method : adaptive_methods()) {
    method = without_eps(method);
    method.start = Start::first;
    method.lambda = 0;
    Stepper<double> stepper(method, std::vector<double>(kN, 0));
    stepper.tap();
    for (int t = 0; t < 60; ++t) {
      stepper.step(g, 1);
      for (std::size_t i = 0; i < kN; ++i) {
        EXPECT_NEAR(stepper.moved()[i], g[i] > 0 ? 1 : -1, 1e-13) << to_json(method);
      }
    }
  }
}

TEST(AConstantGradient, MovesBlocksAlongItsUnitVector) {
  const auto g = Random(14).numbers<double>(kN);
  double square = 0;
  for (const double value : g) square += value * value;
  for (Method method : adaptive_methods()) {
    method = without_eps(method);
    method.start = Start::first;
    method.lambda = 0;
    method.blocks = Blocks::of(Layout::tensor);
    Stepper<double> stepper(method, std::vector<double>(kN, 0));
    stepper.tap();
    for (int t = 0; t < 60; ++t) {
      stepper.step(g, 1);
      for (std::size_t i = 0; i < kN; ++i) {
        EXPECT_NEAR(stepper.moved()[i], g[i] / std::sqrt(square), 1e-13) << to_json(method);
      }
    }
  }
}

TEST(Lambda0, MakesTheKindOfDecayIrrelevant) {
  const auto gradients = gradients_of<float>(15, 6, kN);
  const auto x = Random(16).numbers<float>(kN);
  for (const NamedMethod& named : named_methods()) {
    Method method = *named.method;
    method.lambda = 0;
    method.decay = Decay::none;
    const auto none = run(method, x, gradients);
    method.decay = Decay::coupled;
    EXPECT_TRUE(same_bits(none, run(method, x, gradients))) << named.id;
    method.decay = Decay::decoupled;
    EXPECT_TRUE(same_bits(none, run(method, x, gradients))) << named.id;
  }
}

TEST(TheFirstStep, IsTheSameFromFirstAndFromZeroCorrected) {
  const auto gradients = gradients_of<float>(17, 1, kN);
  const auto x = Random(18).numbers<float>(kN);
  for (const NamedMethod& named : named_methods()) {
    Method method = *named.method;
    method.start = Start::first;
    const auto first = run(method, x, gradients);
    method.start = Start::zero_corrected;
    EXPECT_TRUE(same_bits(first, run(method, x, gradients))) << named.id;
  }
}

TEST(StaleMomentum, KeepsItsRatioWhenGradientsStop) {
  struct Row {
    Method method;
    double ratio;
  };
  const double beta = 0.9;
  for (const Row& row :
       {Row{bcos_c, 1 / std::sqrt(3 - 2 * beta)}, Row{bcos_c_simple, std::sqrt(beta / (2 - beta))},
        Row{sign_momentum, 1.0}}) {
    Stepper<double> stepper(without_eps(row.method), {0.0});
    stepper.tap();
    stepper.step({1.0}, 1);
    for (int t = 0; t < 500; ++t) {
      stepper.step({0.0}, 1);
      EXPECT_NEAR(stepper.moved()[0], row.ratio, 1e-12);
    }
  }
  // With the paper's eps it fades once |m| is about 1e-6.
  Stepper<double> faded(bcos_c, {0.0});
  faded.tap();
  faded.step({1.0}, 1);
  for (int t = 0; t < 300; ++t) faded.step({0.0}, 1);
  EXPECT_LT(faded.moved()[0], 1e-6);
}

}  // namespace
}  // namespace bcos::testing
