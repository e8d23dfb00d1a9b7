#include <gtest/gtest.h>

#include <cmath>

#include "bcos/methods.hpp"
#include "lab/theory/radius.hpp"

namespace bcos::lab::theory {
namespace {

/// 1 + 2 z, z the 0.8 quantile of the normal law.
constexpr double kDose = 1 + 2 * 0.8416212335729143;

class QuantileProblem : public ::testing::Test {
 protected:
  std::unique_ptr<Problem> problem = problem_by_id("P6").make();

  Simulation runs(const Method& method) const {
    return {.problem = *problem,
            .method = method,
            .stepsizes = {4, 0.75},
            .steps = 20000,
            .replicates = 128,
            .key = key_of("quantile_test")};
  }
  numbers::Estimate end(const Method& method) const {
    return mean_of_rows(tail_of(runs(method), 0).points, 1).front();
  }
};

TEST_F(QuantileProblem, AimsAtTheQuantileAndWithDecayBelowIt) {
  EXPECT_NEAR(problem->target(0)->front(), kDose, 1e-13);
  const double decayed = problem->target(0.1)->front();
  EXPECT_LT(decayed, kDose);
  EXPECT_NEAR(phi_of(*problem, Vector{decayed})[0] + 0.1 * decayed, 0, 1e-15);
}

TEST_F(QuantileProblem, IsSolvedByTheConceptualMethod) {
  for (const double lambda : {0.0, 0.1}) {
    const numbers::Estimate seen = end(conceptual(lambda));
    EXPECT_NEAR(seen.value, problem->target(lambda)->front(), 4.5 * seen.se + 0.01);
    EXPECT_LT(seen.se, 0.05);
  }
}

/// Trials are skewed noise: where E d = 0, E[d / sqrt(v)] is not, unless v forgets slowly.
TEST_F(QuantileProblem, IsSolvedByBcosGTheBetterTheLongerItsMemory) {
  const auto away = [&](double beta_v, double lambda) {
    Method method = bcosw_g;
    method.beta_v = beta_v;
    method.lambda = lambda;
    return std::abs(end(method).value - problem->target(lambda)->front());
  };
  for (const double lambda : {0.0, 0.1}) {
    EXPECT_LT(away(0.999, lambda), 0.015);
    EXPECT_LT(away(0.99, lambda), 0.04);
    EXPECT_GT(away(0.9, lambda), 0.1);
  }
}

/// A sign knows only whether a trial succeeded: as many successes as failures.
TEST_F(QuantileProblem, IsTheMedianToSigns) {
  Method signs = sign_sgd;
  signs.lambda = 0;
  const numbers::Estimate seen = end(signs);
  EXPECT_NEAR(seen.value, 1, 4.5 * seen.se + 0.01);
}

TEST_F(QuantileProblem, IsTheSameForADirectionOfTheUser) {
  for (const Method& method : {bcosw_g, conceptual(0.1)}) {
    Method user = method;
    user.direction = Direction::user;
    Simulation one = runs(method);
    Simulation other = runs(user);
    one.steps = other.steps = 500;
    EXPECT_EQ(final_points(one), final_points(other));
  }
}

}  // namespace
}  // namespace bcos::lab::theory
