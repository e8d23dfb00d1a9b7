#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lab/theory/aimed.hpp"
#include "lab/theory/courses.hpp"
#include "lab/theory/formulas.hpp"
#include "lab/theory/numerics.hpp"
#include "lab/theory/problems/quadratic.hpp"

namespace bcos::lab::theory {
namespace {

nlohmann::json golden() {
  std::ifstream file(BCOS_GOLDEN_FILE);
  return nlohmann::json::parse(file).at("theory");
}

struct Standard {
  Quadratic problem = {};
  Vector kappa = problem.kappa(0.5);
  Vector nu = problem.noise_variance(0.5);
};

TEST(Limits, OfTheStandardQuadraticAreTheGoldenOnes) {
  const Standard standard;
  const auto expected = golden();
  for (const auto& [alpha, limit] : expected.at("lim_inverse").items()) {
    EXPECT_NEAR(sum_of_limits(inverse_limit, std::stod(alpha), standard.kappa, standard.nu),
                limit.get<double>(), 1e-12);
  }
  for (const auto& [alpha, limit] : expected.at("lim_power").items()) {
    EXPECT_NEAR(sum_of_limits(power_limit, std::stod(alpha), standard.kappa, standard.nu),
                limit.get<double>(), 1e-12);
  }
}

TEST(Limits, UnderAConstantStepsizeAreLinearisedAndBounded) {
  const Standard standard;
  EXPECT_NEAR(sum_of_limits(constant_limit, 0.1, standard.kappa, standard.nu), 0.15497, 5e-6);
  const Aimed c = aimed("P1");
  EXPECT_NEAR(constant_limit(0.1, c.lambda, c.b_star), 0.61586, 5e-6);
  EXPECT_NEAR(constant_limit(0.1, c.lambda, c.b_star),
              0.1 * c.b_star / (c.lambda * (2 - 0.1 * c.lambda)), 1e-14);
}

TEST(Limits, AreWhereTheRecursionGoes) {
  const std::uint64_t late[] = {1000000};
  const double time = 1000001;
  EXPECT_NEAR(time * bound_recursion({2, 1}, 0.45, 3, 7, late).front(), inverse_limit(2, 0.45, 3),
              1e-3);
  EXPECT_NEAR(std::sqrt(time) * bound_recursion({2, 0.5}, 0.45, 3, 7, late).front(),
              power_limit(2, 0.45, 3), 1e-2);
  EXPECT_NEAR(bound_recursion({0.3, 0}, 0.45, 3, 7, late).front(), constant_limit(0.3, 0.45, 3),
              1e-12);
}

TEST(Limits, BoundAtTheLongestStepsizesIsInverseInTime) {
  const Aimed c = aimed("P1");
  const Vector bound = bound_course(c, {1 / c.lambda, 1}, 1000);
  for (std::size_t t = 1; t < bound.size(); ++t) {
    const double closed = c.b_star / (c.lambda * c.lambda * static_cast<double>(t));
    EXPECT_NEAR(bound[t], closed, 1e-12 * closed);
  }
}

TEST(Zeta, HasTheKnownValues) {
  EXPECT_NEAR(zeta(2), 1.6449340668482264, 1e-14);
  EXPECT_NEAR(zeta(1.5), 2.6123753486854883, 1e-14);
  EXPECT_NEAR(zeta(1.2), 5.5915824411777508, 1e-13);
  EXPECT_NEAR(zeta(4), 1.0823232337111382, 1e-14);
}

}  // namespace
}  // namespace bcos::lab::theory
