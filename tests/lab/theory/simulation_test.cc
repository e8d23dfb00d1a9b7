#include "lab/theory/simulation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bcos/methods.hpp"
#include "lab/theory/problems/quadratic.hpp"

namespace bcos::lab::theory {
namespace {

Simulation small(const Problem& problem, const Method& method) {
  return {.problem = problem,
          .method = method,
          .stepsizes = {0.1},
          .steps = 20,
          .replicates = 130,
          .key = key_of("simulation_test")};
}

TEST(Simulation, StepsAsTheFormulaSays) {
  const Quadratic problem;
  Simulation one = small(problem, conceptual(0.5));
  one.replicates = 1;
  Vector x = problem.start();
  simulate(one, [&](const Moment& now) {
    if (now.t > 0) {
      Noise noise(one.key, 0, now.t - 1);
      Vector d(4);
      Vector mean(4);
      Vector second(4);
      problem.sample(x, noise, d);
      problem.moments(x, mean, second);
      for (std::size_t k = 0; k < 4; ++k) {
        x[k] = (1 - 0.1 * 0.5) * x[k] - 0.1 * d[k] / std::sqrt(second[k]);
      }
    }
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(now.x(0)[k], x[k], 1e-13);
  });
}

TEST(Simulation, RunsAReplicateAloneToTheSameEnd) {
  const BlockQuadratic problem;
  const Simulation all = small(problem, bcosw_c);
  const Vector ends = final_points(all);
  Simulation alone = all;
  alone.replicates = 1;
  alone.first_replicate = 77;
  const Vector end = final_points(alone);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(end[k], ends[77 * 4 + k]);
}

TEST(Simulation, KeepsAFrozenPointWhileStatesMove) {
  const Quadratic problem;
  Simulation frozen = small(problem, bcosw_c);
  frozen.frozen = true;
  frozen.replicates = 2;
  simulate(frozen, [&](const Moment& now) {
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(now.x(0)[k], problem.start()[k]);
    if (now.t == 20) {
      EXPECT_NE(now.m(0)[0], now.m(1)[0]);
    }
  });
}

TEST(Simulation, KnowsTheSecondMomentOfMomentum) {
  const Quadratic problem;
  Simulation frozen = small(problem, conceptual_momentum(0.5, 0.9));
  frozen.frozen = true;
  frozen.replicates = 1;
  Vector m(4, 0.0);
  simulate(frozen, [&](const Moment& now) {
    for (std::size_t k = 0; now.t > 0 && k < 4; ++k) {
      const double q = 0.9 * m[k] + 0.1 * problem.a[k] * (problem.start()[k] - problem.c[k]);
      EXPECT_NEAR(now.v(0)[k], q * q + 0.01 * problem.s[k] * problem.s[k], 1e-14);
    }
    m.assign(now.m(0).begin(), now.m(0).end());
  });
}

}  // namespace
}  // namespace bcos::lab::theory
