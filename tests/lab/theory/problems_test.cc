#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lab/theory/aimed.hpp"
#include "lab/theory/formulas.hpp"
#include "lab/theory/problems/quadratic.hpp"
#include "lab/theory/simulation.hpp"

namespace bcos::lab::theory {
namespace {

nlohmann::json golden() {
  std::ifstream file(BCOS_GOLDEN_FILE);
  return nlohmann::json::parse(file).at("theory");
}

void expect_near(const Vector& seen, const Vector& wanted, double tolerance) {
  ASSERT_EQ(seen.size(), wanted.size());
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_NEAR(seen[i], wanted[i], tolerance);
}

std::vector<std::string> ids() {
  std::vector<std::string> ids;
  for (const NamedProblem& problem : problems()) ids.push_back(problem.id);
  return ids;
}

class EveryProblem : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Problem> problem = problem_by_id(GetParam()).make();
};

TEST_P(EveryProblem, HasTheMomentsItClaims) {
  constexpr std::uint64_t kSamples = 200000;
  const Vector x = problem->start();
  const std::size_t n = problem->size();
  Vector mean(n);
  Vector second(problem->blocks());
  if (!problem->moments(x, mean, second)) GTEST_SKIP() << "its moments are not known";
  std::vector<numbers::Moments> first(n);
  std::vector<numbers::Moments> squares(problem->blocks());
  Vector d(n);
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    Noise noise(key_of(GetParam()), i, 0);
    problem->sample(x, noise, d);
    for (std::size_t j = 0; j < n; ++j) first[j].add(d[j]);
    for (std::size_t k = 0; k < squares.size(); ++k) {
      const std::size_t size = problem->block_size();
      squares[k].add(squared_norm(ConstSpan(d).subspan(k * size, size)));
    }
  }
  for (std::size_t j = 0; j < n; ++j) {
    const numbers::Estimate seen = first[j].mean();
    EXPECT_NEAR(seen.value, mean[j], 4.5 * seen.se + 1e-9 * std::abs(mean[j]));
  }
  for (std::size_t k = 0; k < squares.size(); ++k) {
    const numbers::Estimate seen = squares[k].mean();
    EXPECT_NEAR(seen.value, second[k], 4.5 * seen.se + 1e-9 * second[k]);
  }
}

TEST_P(EveryProblem, AimsAtItsTarget) {
  for (const double lambda : {0.0, problem->lambda()}) {
    const auto target = problem->target(lambda);
    if (!target) continue;
    for (std::uint64_t i = 0; i < 500; ++i) {
      Noise noise(key_of(GetParam()), i, 1);
      Vector x = *target;
      const double scale = std::pow(10, -3 + 5 * noise.uniform());
      for (double& value : x) value += scale * noise.normal();
      EXPECT_GE(aiming_margin(*problem, x, lambda, *target), -1e-12 * scale);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Theory, EveryProblem, ::testing::ValuesIn(ids()),
                         [](const auto& info) { return info.param; });

TEST(StandardQuadratic, HasTheGoldenConstants) {
  const Quadratic problem;
  const auto expected = golden();
  const double lambda = expected.at("lam");
  expect_near(*problem.target(lambda), expected.at("target"), 1e-14);
  expect_near(problem.kappa(lambda), expected.at("kappa"), 1e-13);
  expect_near(problem.noise_variance(lambda), expected.at("noise_var"), 1e-14);
  const Vector target = *problem.target(lambda);
  const double b = b_star(problem, lambda, target);
  EXPECT_NEAR(b, expected.at("B_star"), 1e-13);
  EXPECT_NEAR(squared_distance(problem.start(), target), expected.at("D0"), 1e-13);
}

TEST(StandardQuadratic, MakesTheGoldenSteps) {
  const Quadratic problem;
  const auto expected = golden();
  const double lambda = expected.at("lam");
  const Vector target = *problem.target(lambda);
  const double d0 = squared_distance(problem.start(), target);
  const double b = b_star(problem, lambda, target);
  for (const auto& step : expected.at("one_step")) {
    const double alpha = step.at("alpha");
    EXPECT_NEAR(one_step_distance(problem, problem.start(), alpha, lambda, target),
                step.at("exact"), 1e-12);
    EXPECT_NEAR(one_step_bound(d0, alpha, lambda, b), step.at("bound"), 1e-12);
  }
}

TEST(StandardQuadratic, HasTheGoldenBounds) {
  const Quadratic problem;
  const auto expected = golden();
  const double lambda = expected.at("lam");
  const Vector target = *problem.target(lambda);
  const double d0 = squared_distance(problem.start(), target);
  for (const auto& recursion : expected.at("bound_recursion")) {
    const Stepsizes stepsizes{recursion.at("alpha"), recursion.at("p")};
    for (const auto& [time, bound] : recursion.at("R").items()) {
      const std::uint64_t times[] = {std::stoull(time)};
      const double seen =
          bound_recursion(stepsizes, lambda, b_star(problem, lambda, target), d0, times).front();
      EXPECT_NEAR(seen, bound.get<double>(), 1e-12 * (1 + seen));
    }
  }
}

/// Says where to go, but not what its steps are on average.
class WithoutMoments : public Problem {
 public:
  std::size_t size() const override { return 1; }
  Vector start() const override { return {1}; }
  void sample(ConstSpan x, Noise& /*noise*/, Span d) const override { d[0] = x[0]; }
  std::optional<Vector> target(double /*lambda*/) const override { return Vector{0}; }
};

TEST(Problems, WithoutMomentsAreNotTakenForNoise) {
  EXPECT_THROW(phi_of(WithoutMoments(), Vector{1}), std::exception);
  EXPECT_FALSE(aimed("own", std::make_unique<WithoutMoments>(), 0.5));
  EXPECT_THROW(final_points({.problem = WithoutMoments(), .method = conceptual(0)}),
               std::exception);
}

TEST(Problems, UnknownOnesAreRefusedWithTheNearest) {
  try {
    problem_by_id("p1");
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "[theory] expected a problem but received 'p1'; did you mean 'P1'?");
  }
}

}  // namespace
}  // namespace bcos::lab::theory
