#include <gtest/gtest.h>

#include <cmath>

#include "bcos/methods.hpp"
#include "bcos/text.hpp"
#include "tests/engine/random_numbers.hpp"
#include "tests/engine/stepper.hpp"

namespace bcos::testing {
namespace {

/// Magnitudes from 1e-10 to 1e10, sign flips, bursts after silence, zeros.
std::vector<double> adversarial(Random& random, int t, std::size_t n) {
  std::vector<double> g(n);
  for (std::size_t i = 0; i < n; ++i) {
    switch ((i + static_cast<std::size_t>(t) / 50) % 5) {
      case 0:
        g[i] = random.signed_unit() * std::pow(10.0, 10 * random.signed_unit());
        break;
      case 1:
        g[i] = t % 2 == 0 ? 1 : -1;
        break;
      case 2:
        g[i] = t % 100 < 97 ? 1e-6 * random.signed_unit() : 1e6;
        break;
      case 3:
        g[i] = random.below(3) == 0 ? 0 : std::pow(0.5, t % 60);
        break;
      default:
        g[i] = std::pow(3.0, t % 20);
    }
  }
  return g;
}

std::vector<Method> bounded_methods() {
  std::vector<Method> methods;
  for (const NamedMethod& named : named_methods()) {
    if (amplification_bound(*named.method)) methods.push_back(*named.method);
  }
  Method wide = adamw;
  wide.beta_v = 0.99;
  methods.push_back(wide);
  Method free = adamsw;
  free.beta_v = 0.9;
  methods.push_back(free);
  return methods;
}

TEST(Amplification, StaysBelowItsBoundUnderAdversarialGradients) {
  constexpr std::size_t n = 60;
  for (Method method : bounded_methods()) {
    // First and zero_corrected weights sum to one; from zero the first steps of Adam are longer.
    for (const bool with_eps : {true, false}) {
      for (const Layout layout : {Layout::coordinate, Layout::row}) {
        if (!with_eps) method.eps = method.eps_root = 0;
        if (method.decay == Decay::coupled) method.lambda = 0;
        method.blocks = Blocks::of(layout);
        const double c = *amplification_bound(method);
        Random random(41);
        Stepper<double> stepper(method, std::vector<double>(n, 0), {n / 6, 6});
        stepper.tap();
        for (int t = 0; t < 600; ++t) {
          stepper.step(adversarial(random, t, n), 1e-3);
          const std::size_t width = layout == Layout::row ? 6 : 1;
          for (std::size_t k = 0; k < n; k += width) {
            double square = 0;
            for (std::size_t i = k; i < k + width; ++i) {
              square += stepper.moved()[i] * stepper.moved()[i];
            }
            ASSERT_LE(std::sqrt(square), 1e-3 * c * (1 + 1e-12)) << to_json(method) << " at " << t;
          }
        }
      }
    }
  }
}

TEST(Amplification, BoundsAreThoseOfTheTable) {
  const auto bound = [](Method method, double beta_v) {
    method.beta_v = beta_v;
    return *amplification_bound(method);
  };
  EXPECT_NEAR(bound(bcos_c, 0.9), 1.2964, 5e-5);
  EXPECT_NEAR(bound(bcos_c_simple, 0.9), 1.3484, 5e-5);
  EXPECT_NEAR(bound(adams, 0.95), 1.0260, 5e-5);
  EXPECT_NEAR(bound(bcos_m, 0.9), 3.1623, 5e-5);
  EXPECT_NEAR(bound(adam, 0.99), 2.3452, 5e-5);
  EXPECT_NEAR(bound(adam, 0.999), 7.2703, 5e-5);
  EXPECT_FALSE(amplification_bound(sgd));
}

TEST(Amplification, PeaksAfterABurstAsPredicted) {
  struct Row {
    Method method;
    double peak;
  };
  Method wide = adam;
  wide.beta_v = 0.99;
  for (Row row : {Row{bcos_m, 3.162}, Row{wide, 2.131}, Row{bcos_c, 1.295}}) {
    row.method.eps = row.method.eps_root = 0;
    row.method.start = Start::first;
    Stepper<double> stepper(row.method, {0.0});
    stepper.tap();
    double peak = 0;
    for (int t = 0; t < 400; ++t) {
      stepper.step({t < 200 ? 1e-6 : 1.0}, 1);
      peak = std::max(peak, std::abs(stepper.moved()[0]));
    }
    EXPECT_NEAR(peak, row.peak, 2e-3) << to_json(row.method);
  }
}

TEST(DecoupledDecay, KeepsParametersInsideTheirBall) {
  Method method = bcosw_c;
  method.lambda = 0.5;
  const double limit = *amplification_bound(method) / method.lambda;
  Random random(43);
  Stepper<double> stepper(method, random.numbers<double>(40, 2 * limit));
  std::vector<double> start = stepper.x();
  for (int t = 0; t < 500; ++t) {
    stepper.step(adversarial(random, t, 40), 0.05);
    for (std::size_t i = 0; i < 40; ++i) {
      ASSERT_LE(std::abs(stepper.x()[i]), std::max(std::abs(start[i]), limit) * (1 + 1e-12));
    }
  }
}

}  // namespace
}  // namespace bcos::testing
