#include "lab/theory/radius.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "bcos/methods.hpp"
#include "lab/theory/limits.hpp"
#include "lab/theory/problems/quadratic.hpp"

namespace bcos::lab::theory {
namespace {

void expect_near(const Vector& seen, const Vector& wanted, double tolerance) {
  ASSERT_EQ(seen.size(), wanted.size());
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_NEAR(seen[i], wanted[i], tolerance);
}

Vector limit_of(const Method& method) { return *exact_limit(Quadratic(), method, 0.5); }

/// E f(N(mean, sd)) by Simpson's rule.
template <class F>
double simpson(double mean, double sd, int parts, F f) {
  const double step = 18.0 / parts;
  double sum = 0;
  for (int i = 0; i <= parts; ++i) {
    const double z = -9 + step * i;
    const double weight = i == 0 || i == parts ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * std::exp(-z * z / 2) * f(mean + sd * z);
  }
  return sum * step / 3 / std::sqrt(2 * std::numbers::pi);
}

TEST(Limits, AreTheGoldenOnes) {
  std::ifstream file(BCOS_GOLDEN_FILE);
  const auto golden = nlohmann::json::parse(file).at("theory");
  expect_near(limit_of(conceptual(0.5)), golden.at("target"), 1e-14);
  expect_near(limit_of(sign_sgd), golden.at("sign_target"), 1e-14);
  expect_near(limit_of(sign_momentum), golden.at("sign_momentum_target_beta09"), 1e-14);
  expect_near(limit_of(conceptual_momentum(0.5, 0.9)), {0.8640, -0.9616, 0.3127, 0}, 5e-5);
  const double away = std::sqrt(squared_distance(limit_of(sign_sgd), limit_of(conceptual(0.5))));
  EXPECT_NEAR(away, 0.054738, 5e-7);
}

TEST(Limits, FieldsOfConditionalEstimatorsAreMeansOverMomentum) {
  for (const Method& method : {bcosw_c, bcosw_c_simple, adamsw}) {
    const Field field = *field_of(method);
    for (const double mean : {0.0, 0.1, -0.7, 3.0}) {
      const double at_rest = momentum_deviation(1.5, method.beta);
      const double averaged = simpson(
          mean, at_rest, 2000, [&](double m) { return conditional_step(method, mean, 1.5, m); });
      EXPECT_NEAR(field(mean, 1.5), averaged, 1e-5) << "mean " << mean;
    }
  }
}

TEST(Limits, AConditionalStepIsAMeanOverGradients) {
  for (const double m : {-0.8, -0.02, 0.02, 0.5}) {
    const double beta = bcosw_c.beta;
    const double averaged = simpson(0.3, 1, 20000, [&](double g) {
      const double d = beta * m + (1 - beta) * g;
      const double v =
          beta * beta * m * m + 2 * beta * (1 - beta) * m * d + (1 - beta) * (1 - beta) * g * g;
      return d / std::sqrt(v);
    });
    EXPECT_NEAR(conditional_step(bcosw_c, 0.3, 1, m), averaged, 1e-9) << "m " << m;
  }
  EXPECT_NEAR(conditional_step(bcosw_c, 0.3, 1, 0), sign_field(0.3, 1), 1e-15);
  EXPECT_NEAR(conditional_step(bcosw_c, 0.3, 1, 1e-9), sign_field(0.3, 1), 1e-6);
}

TEST(Limits, ConceptualMomentumIsAMeanOverWhatItExpects) {
  const double averaged = simpson(-0.4, 0.9 * momentum_deviation(2, 0.9), 20000,
                                  [](double q) { return q / std::sqrt(q * q + 0.01 * 4); });
  EXPECT_NEAR(conceptual_momentum_field(-0.4, 2, 0.9), averaged, 1e-12);
}

TEST(Limits, NoStateHasALargerStepDifference) {
  const double most = *largest_step_difference(bcosw_c, -0.2, 1);
  double seen = 0;
  for (double m = -3; m < 3; m += 0.0005) {
    seen = std::max(seen, std::abs(conditional_step(bcosw_c, -0.2, 1, m) -
                                   momentum_phi(-0.2, 1, m, bcosw_c.beta)));
  }
  EXPECT_GE(most, seen);
  EXPECT_NEAR(most, seen, 1e-4);
}

TEST(Limits, AreNotKnownForAveragesAndForOtherProblems) {
  EXPECT_FALSE(exact_limit(Quadratic(), bcosw_g, 0.5));
  EXPECT_FALSE(exact_limit(Quadratic(), adamw, 0.5));
  EXPECT_FALSE(exact_limit(BlockQuadratic(), sign_sgd, 0.5));
}

Simulation short_runs(const Problem& problem, const Method& method) {
  return {.problem = problem,
          .method = method,
          .stepsizes = {1, 0.75},
          .steps = 200,
          .replicates = 70,
          .key = key_of("radius_test")};
}

TEST(Tail, IsTheSecondHalf) {
  const Quadratic problem;
  const Simulation runs = short_runs(problem, bcosw_c);
  const Tail tail = tail_of(runs, 4);
  Vector mean(runs.replicates * 4);
  Vector square(runs.replicates);
  simulate(runs, [&](const Moment& now) {
    if (now.t <= 100) return;
    for (std::size_t i = 0; i < now.count; ++i) {
      square[now.first + i] += squared_norm(now.x(i)) / 100;
      for (std::size_t k = 0; k < 4; ++k) mean[(now.first + i) * 4 + k] += now.x(i)[k] / 100;
    }
  });
  expect_near(tail.points, mean, 1e-12);
  expect_near(tail.squares, square, 1e-12);
  const Vector zero(4);
  EXPECT_NEAR(rms_distance(tail, zero).value, std::sqrt(numbers::mean_of(square).value), 1e-12);
}

/// The state that a tail keeps goes on as the run did.
TEST(Tail, KeepsStatesThatGoOnAlike) {
  const Quadratic problem;
  for (const Method& method : {bcosw_c, bcosw_g, bcosw_m, adamw}) {
    Simulation runs = short_runs(problem, method);
    const Tail tail = tail_of(runs, 1);
    ASSERT_EQ(tail.states.size(), 1U);
    const Tail::State& state = tail.states[0];
    EXPECT_EQ(state.states.taken, 200U);
    runs.steps = 201;
    runs.replicates = 1;
    Vector g;
    Vector next;
    simulate(runs, [&](const Moment& now) {
      if (now.t != 201) return;
      g.assign(now.g(0).begin(), now.g(0).end());
      next.assign(now.x(0).begin(), now.x(0).end());
    });

    /// The gradient of that step again.
    class Same : public Quadratic {
     public:
      Vector g;
      void sample(ConstSpan /*x*/, Noise& /*noise*/, Span d) const override {
        std::ranges::copy(g, d.begin());
      }
    } same;
    same.g = g;
    const Simulation once{.problem = same,
                          .method = method,
                          .stepsizes = {state.alpha},
                          .x0 = state.x,
                          .states = state.states};
    EXPECT_EQ(final_points(once), next);
  }
}

TEST(Tail, MeanDifferencesAreThoseOfTheSteps) {
  // Signs against phi, both known exactly at every x: the difference of the means over time.
  const Quadratic problem;
  Simulation runs = short_runs(problem, with(sign_sgd, {.decay = Decay::decoupled, .lambda = 0.5}));
  runs.steps = 2000;
  runs.replicates = 512;
  const Tail tail = tail_of(runs, 0);
  const auto seen = mean_of_rows(tail.differences, 4);
  const Vector limit = limit_of(sign_sgd);
  for (std::size_t k = 0; k < 4; ++k) {
    const double mean = problem.a[k] * (limit[k] - problem.c[k]);
    const double err = sign_field(mean, problem.s[k]) - mean / std::hypot(mean, problem.s[k]);
    EXPECT_NEAR(seen[k].value, err, 4.5 * seen[k].se + 0.005);
  }
}

TEST(StepDifference, OfTheConceptualMethodIsNothing) {
  const BlockQuadratic problem;
  for (const Method& method : {conceptual(0.5), conceptual_momentum(0.5, 0.9)}) {
    const Tail tail = tail_of(short_runs(problem, method), 4);
    const StepDifference err = step_difference(problem, method, tail, 4000, 5);
    EXPECT_NEAR(err.largest, 0, 1e-12);
    for (const numbers::Estimate& difference : mean_of_rows(tail.differences, 4)) {
      EXPECT_NEAR(difference.value, 0, 1e-12);
    }
  }
}

TEST(Radii, AreWhatTheyAreDefinedToBe) {
  const BlockQuadratic problem;  // two blocks of two
  const Radii radii = radii_of(0.1, 0.12, problem, bcosw_c, 0.5, Vector{0.3, 0, 0, 0.4});
  EXPECT_DOUBLE_EQ(radii.paper, 2 * std::numbers::sqrt2 * 0.1 / 0.5);
  EXPECT_DOUBLE_EQ(radii.sharper, 0.24);
  EXPECT_DOUBLE_EQ(*radii.trivial, std::numbers::sqrt2 * std::sqrt(2 / (2 - 0.81)) / 0.5 + 0.5);
  Method unbounded = adamw;
  unbounded.beta_v = 0.5;
  EXPECT_FALSE(radii_of(0.1, 0.12, problem, unbounded, 0.5, Vector(4)).trivial);
}

TEST(Aim, BelongsToWhatVEstimates) {
  EXPECT_TRUE(stands_for_momentum(bcosw_c));
  EXPECT_TRUE(stands_for_momentum(bcosw_m));
  EXPECT_FALSE(stands_for_momentum(bcosw_g));
  EXPECT_FALSE(stands_for_momentum(adamw));
}

}  // namespace
}  // namespace bcos::lab::theory
