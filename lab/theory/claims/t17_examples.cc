#include "lab/theory/claims/t17_examples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/theory/problems/examples.hpp"
#include "lab/theory/simulation.hpp"

namespace bcos::lab::theory {

/// log|x| is concave on either side of 0 and still aims at it.
void logarithm_example(const Setup& setup, Findings& findings) {
  const Logarithm problem;
  const auto slope = [&](double x) { return setup.right(1 / x, x, 7); };
  double least = 1;
  double most = 1;
  double convex = -std::numeric_limits<double>::infinity();
  for (double x = 0.01; x < 100; x *= 1.3) {
    least = std::min(least, x * slope(x));
    most = std::max(most, x * slope(x));
    convex = std::max(convex, (2 * x - x) * (slope(2 * x) - slope(x)));
  }
  findings.equal("P4: least x F'(x)", {least}, 1);
  findings.equal("P4: most x F'(x)", {most}, 1);
  findings.equal("P4: <x - y, F'(x) - F'(y)> at y = 2 x, most", {convex}, -0.5);
  Findings::as_printed(findings.at_most("P4: x F'(x), said to fail to be >= 0", {least}, 0), false);

  const Stepsizes stepsizes{1, 0.75};
  const std::uint64_t steps = setup.scaled(2000, 20000);
  Vector ends = final_points({.problem = problem,
                              .method = conceptual(0),
                              .stepsizes = {1, setup.right(0.75, 0.0, 4)},
                              .steps = steps,
                              .replicates = setup.scaled(1024, 5120),
                              .key = key_of("T17/P4")});
  for (double& x : ends) x = std::abs(x) / stepsizes.at(steps);
  findings.at_most(
      fmt::format("P4, lambda 0: largest |x_T| / alpha_T of {} seeds", ends.size() / 16),
      numbers::largest_in_batches(ends), 1.1);
}

namespace {

void run(const Setup& setup, Findings& findings) {
  skewed_example(setup, findings);
  polynomial_example(setup, findings);
  logarithm_example(setup, findings);
}

const RegisterClaim registered{
    {.id = "T17",
     .name = "Appendix A.1",
     .title = "aiming is not convexity",
     .statement =
         "The polynomial x (x-3)^2 (x+2)^2 + q x and the logarithm aim at 0 though they "
         "are not convex, and the method converges on them where SGD overflows. The "
         "quadratic of [[1,-2],[-2,4]] + q I, q < 1/3, is convex, but single coordinates do "
         "not aim: from (1.5, 1) every step leads away from 0. One block of both "
         "coordinates aims.",
     .errata =
         {"E13: the polynomial does not satisfy the classical two-sided condition (no L, and for "
          "q = 0 no mu > 0), only the one-sided normalised one; and it is non-monotone only for "
          "q < 41.23.",
          "E14: the logarithm does not fail <x - x_*, F'(x)> >= 0, which is 1; convexity is what "
          "fails. 0 is outside its domain, so log|x| is used.",
          "E30: the 2x2 example has < 0, and its minimisers are a line; aiming fails at each of "
          "them."},
     .mutants = {"the 2x2 example aims: distance 3.25 - alpha + 2 alpha^2",
                 "aiming fails for q < 1/2", "the polynomial's steepest descent half as steep",
                 "a constant stepsize", "single coordinates for one block",
                 "SGD with normalised steps", "x^2/2 in the place of log|x|"},
     .run = run}};

}  // namespace
}  // namespace bcos::lab::theory
