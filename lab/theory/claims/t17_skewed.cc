#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/theory/claims/t17_examples.hpp"
#include "lab/theory/numerics.hpp"
#include "lab/theory/problems/examples.hpp"
#include "lab/theory/simulation.hpp"

namespace bcos::lab::theory {
namespace {

/// The skewed quadratic as one block of both coordinates.
class OneBlock : public SkewedQuadratic {
 public:
  using SkewedQuadratic::SkewedQuadratic;
  std::size_t block_size() const override { return 2; }
  bool moments(ConstSpan x, Span mean, Span second) const override {
    Vector each(2);
    SkewedQuadratic::moments(x, mean, each);
    second[0] = each[0] + each[1];
    return true;
  }
};

/// x^T (A + q I) x / 2.
double value_of(const SkewedQuadratic& problem, ConstSpan x) {
  Vector gradient(2);
  Vector second(2);
  problem.SkewedQuadratic::moments(x, gradient, second);
  return dot(x, gradient) / 2;
}

Vector walk(const Problem& problem, const Stepsizes& stepsizes, std::uint64_t steps) {
  return final_points({.problem = problem,
                       .method = conceptual(0),
                       .stepsizes = stepsizes,
                       .steps = steps,
                       .key = key_of("T17/P5")});
}

/// One step of single coordinates from (1.5, 1), through the engine.
void leads_away(const Setup& setup, Findings& findings) {
  const SkewedQuadratic problem;
  const Vector x = problem.start();
  for (const double alpha : {0.1, 0.01, 1.0, 3.0}) {
    const double expected = 3.25 + setup.right(1.0, -1.0, 1) * alpha + 2 * alpha * alpha;
    findings.equal(fmt::format("2x2: |x|^2 = 3.25 + alpha + 2 alpha^2 after a step of {}", alpha),
                   {squared_norm(walk(problem, {alpha}, 1))}, expected);
  }
  findings.equal("2x2: <x, sign(Ax)> at (1.5, 1)", {dot(x, phi_of(problem, x))},
                 setup.right(-0.5, 0.5, 1));
  for (const double alpha : {0.01, 0.1, 0.3}) {
    // s = sign(Ax) = (-1, 1): |Ax|_1 = 1.5 and s^T A s = 9.
    findings.equal(fmt::format("2x2, step {}: the function falls all the same, change", alpha),
                   {value_of(problem, walk(problem, {alpha}, 1)) - value_of(problem, x)},
                   setup.right(-1.5, 1.5, 1) * alpha + 4.5 * alpha * alpha);
  }
  double most = -1;
  for (const double r : {-3.0, -0.5, 0.0, 0.2, 1.0, 7.0}) {
    const Vector minimiser = {2 * r, r};
    const Vector near = {minimiser[0] + x[0], minimiser[1] + x[1]};
    most = std::max(most, dot(minus(near, minimiser), phi_of(problem, near)));
  }
  findings.equal("2x2: <x - x_*, sign(Ax)> for each minimiser (2r, r), most", {most},
                 setup.right(-0.5, 0.5, 1));
}

/// A + q I is strongly convex, and does not aim either before q = 1/3.
void with_a_ridge(const Setup& setup, Findings& findings) {
  const auto aim = [](double q) {
    const SkewedQuadratic problem(q);
    return dot(problem.start(), phi_of(problem, problem.start()));
  };
  for (const double q : {0.1, 0.3, 0.333}) {
    findings.equal(fmt::format("2x2, q = {}: <x, sign((A + qI)x)> at (1.5, 1)", q), {aim(q)},
                   setup.right(-0.5, 0.5, 1));
  }
  findings.equal("2x2: the q from which it aims at (1.5, 1)", {increasing_root(aim, 0, 1)},
                 setup.right(1.0 / 3, 0.5, 2));
  // Aiming is enough for convergence, not needed for it.
  const Vector end = walk(SkewedQuadratic(0.2), {1, 0.75}, 10000);
  findings.number("2x2, q = 0.2: |x_T| of single coordinates all the same, T = 1e4",
                  {std::sqrt(squared_norm(end))});
}

/// <x, Ax> >= 0: one block aims, and converges.
void one_block(const Setup& setup, Findings& findings) {
  const Stepsizes stepsizes{1, 0.75};
  const Stepsizes made{1, setup.right(0.75, 0.0, 4)};
  const std::uint64_t steps = setup.scaled(5000, 50000);
  for (const double q : {0.0, 0.2}) {
    const OneBlock problem(q);
    const SkewedQuadratic coordinates(q);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < setup.scaled(300, 3000); ++i) {
      Noise noise(key_of("T17/one block"), i, 0);
      const Vector x = {noise.normal(), noise.normal()};
      const Vector phi = setup.mutant == 5 ? phi_of(coordinates, x) : phi_of(problem, x);
      least = std::min(least, dot(x, phi));
    }
    findings.at_least(fmt::format("2x2 as one block, q = {}: least <x, phi>", q), {least}, 0);
    const Vector end = walk(problem, made, steps);
    // q = 0 has a line of minimisers: the distance to it is |x_0 - 2 x_1| / sqrt(5).
    const double distance =
        q == 0 ? std::abs(end[0] - 2 * end[1]) / std::sqrt(5.0) : std::sqrt(squared_norm(end));
    findings.at_most(fmt::format("2x2 as one block, q = {}: distance to x_* over alpha_T", q),
                     {distance / stepsizes.at(steps)}, 1);
  }
}

/// Where the method goes from everywhere: against phi.
lab::plot::Figure field(const Problem& problem, const std::string& title,
                        const std::string& caption) {
  using Mark = lab::plot::Figure::Mark;
  lab::plot::Figure figure{
      .title = title,
      .caption = caption,
      .x = {"x_1"},
      .y = {"x_2"},
      .series = {{"step", Mark::arrows, {}, {}},
                 {.label = "minimisers of q = 0", .mark = Mark::dashed, .x = {-2, 2}, .y = {-1, 1}},
                 {.label = "(1.5, 1)", .mark = Mark::points, .x = {1.5}, .y = {1}}}};
  auto& arrows = figure.series[0];
  constexpr double kLength = 0.12;
  for (int i = -6; i <= 6; ++i) {
    for (int j = -6; j <= 6; ++j) {
      const Vector x = {0.32 * i, 0.32 * j};
      const Vector phi = phi_of(problem, x);
      arrows.x.push_back(x[0]);
      arrows.y.push_back(x[1]);
      arrows.dx.push_back(-kLength * phi[0]);
      arrows.dy.push_back(-kLength * phi[1]);
    }
  }
  return figure;
}

}  // namespace

void skewed_example(const Setup& setup, Findings& findings) {
  leads_away(setup, findings);
  with_a_ridge(setup, findings);
  one_block(setup, findings);
  findings.figure(field(SkewedQuadratic(0.2), "P5, q = 0.2: steps of single coordinates",
                        "Every arrow is a diagonal. In the narrow sector between the two lines on "
                        "which a coordinate of (A + qI)x changes sign, where (1.5, 1) lies, they "
                        "lead away from 0."));
  findings.figure(field(OneBlock(0.2), "P5, q = 0.2: steps of one block",
                        "As one block the same quadratic is stepped along its gradient, and no "
                        "arrow leads away from 0."));
}

}  // namespace bcos::lab::theory
