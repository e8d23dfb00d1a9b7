#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bcos/methods.hpp"
#include "lab/theory/claims/t17_examples.hpp"
#include "lab/theory/courses.hpp"
#include "lab/theory/curves.hpp"
#include "lab/theory/formulas.hpp"
#include "lab/theory/numerics.hpp"
#include "lab/theory/problems/examples.hpp"

namespace bcos::lab::theory {
namespace {

constexpr Stepsizes kStepsizes{1, 0.75};

// E d = x u^2 + q x with u = (x-3)(x+2), u' = 2x - 1, u'' = 2.
double u(double x) { return (x - 3) * (x + 2); }
double derivative(double x) { return u(x) * u(x) + 2 * x * u(x) * (2 * x - 1); }
double second_derivative(double x) {
  const double du = 2 * x - 1;
  return 4 * u(x) * du + 2 * x * du * du + 4 * x * u(x);
}

/// It falls, steepest at one place; a coefficient q lifts the derivative everywhere.
void shape(const Setup& setup, Findings& findings) {
  double where = 0;
  for (double x = -3; x < 4; x += 1e-3) {
    if (derivative(x) < derivative(where)) where = x;
  }
  where = increasing_root(second_derivative, where - 0.1, where + 0.1);
  const double least = derivative(where);
  Findings::as_quoted(
      findings.equal("P3: least derivative", {least}, setup.right(-41.2294, -20.6147, 3), 5e-5));
  findings.number("P3: where its derivative is least", {where});
  const Polynomial plain;
  constexpr double kStep = 1e-4;
  const double numerical = (plain.mean(where + kStep) - plain.mean(where - kStep)) / (2 * kStep);
  findings.equal("P3: least derivative, by differences", {numerical},
                 setup.right(least, least / 2, 3), 1e-5);
  Findings::as_printed(
      findings.at_most("P3, q = 42: least derivative, said to be negative", {least + 42}, 0),
      false);
  // x E d / x^2 between mu and L.
  Findings::as_printed(findings.at_least("P3: mu = 1e-6 in x E d >= mu x^2, at x = 3",
                                         {3 * plain.mean(3) / 9}, 1e-6),
                       false);
  Findings::as_printed(findings.at_most("P3: L = 1e6 in x E d <= L x^2, at x = 100",
                                        {100 * plain.mean(100) / 1e4}, 1e6),
                       false);
}

lab::plot::Figure picture() {
  using Mark = lab::plot::Figure::Mark;
  lab::plot::Figure figure{
      .title = "P3: E d and the normalised phi",
      .caption =
          "E d = x (x-3)^2 (x+2)^2 rises and falls and touches 0 again at 3 "
          "and -2, but never changes sides: phi aims at 0 and is bounded.",
      .x = {"x"},
      .y = {"E d / 100, phi"},
      .series = {{"E d / 100", Mark::line, {}, {}}, {"phi, noise 1", Mark::line, {}, {}}}};
  const Polynomial problem;
  for (int i = 0; i <= 150; ++i) {
    const double x = -2.7 + 0.042 * i;
    for (auto& series : figure.series) series.x.push_back(x);
    figure.series[0].y.push_back(problem.mean(x) / 100);
    figure.series[1].y.push_back(phi_of(problem, Vector{x})[0]);
  }
  return figure;
}

/// With decay: within R_t for B_* = 1 and D_0 = 25 at every t.
void with_decay(const Setup& setup, double q, lab::plot::Figure& figure, Findings& findings) {
  const std::uint64_t steps = setup.scaled(1000, 10000);
  const Aimed c = *aimed("P3", std::make_unique<Polynomial>(q), 0.5);
  const std::string where = fmt::format("P3, lambda 0.5, q = {}", q);
  const Course course = distance_course(c, {kStepsizes.alpha, setup.right(kStepsizes.p, 0.0, 4)},
                                        steps, setup.scaled(2000, 10000), key_of("T17/" + where));
  const Vector bound = bound_course(c, kStepsizes, steps);
  within(findings, where + ": E x_t^2 <= R_t", course, bound);
  const auto times = even_log_times(steps, 80);
  add_course(figure, fmt::format("lambda 0.5, q = {}", q), course, times);
  if (q == 0) add_bound(figure, "R_t of lambda 0.5", bound, times);
}

/// Without decay: near 0 it is a linear recursion with the derivative 36 + q there.
void without_decay(const Setup& setup, double q, lab::plot::Figure& figure, Findings& findings) {
  const std::uint64_t steps = setup.scaled(2000, 20000);
  const Aimed c = *aimed("P3", std::make_unique<Polynomial>(q), 0);
  const std::string where = fmt::format("P3, lambda 0, q = {}", q);
  const Course course = distance_course(c, {kStepsizes.alpha, setup.right(kStepsizes.p, 0.0, 4)},
                                        steps, setup.scaled(3000, 4000), key_of("T17/" + where));
  const Vector kappa = {derivative(0) + q};
  const double scale = std::pow(static_cast<double>(steps + 1), kStepsizes.p);
  const double linear =
      scale * linear_course(kStepsizes, kappa, Vector{1}, Vector{0}, steps).back();
  findings.equal(fmt::format("{}: (t+1)^0.75 E x_t^2 at t = {}, linearised at 0", where, steps),
                 {scale * course.back().value, scale * course.back().se}, linear, 0.02 * linear);
  findings.number(where + ": E x_t^2 at t = 30", course[std::min<std::size_t>(30, steps)]);
  add_course(figure, fmt::format("lambda 0, q = {}", q), course, even_log_times(steps, 80));
}

/// Plain SGD on the same problem with the same stepsizes.
void sgd_overflows(const Setup& setup, Findings& findings) {
  const Polynomial problem;
  const Simulation simulation{.problem = problem,
                              .method = setup.right(sgd, conceptual(0), 6),
                              .stepsizes = kStepsizes,
                              .steps = 20,
                              .replicates = setup.scaled(200, 2000),
                              .key = key_of("T17/sgd")};
  Vector finite(simulation.replicates, 0.0);
  simulate(simulation, [&](const Moment& now) {
    for (std::size_t i = 0; i < now.count; ++i) {
      if (std::isfinite(now.x(i)[0])) finite[now.first + i] = static_cast<double>(now.t);
    }
  });
  for (double& value : finite) value += 1;
  findings.at_most("P3: SGD's steps until overflow, mean", numbers::mean_of(finite), 5);
}

}  // namespace

void polynomial_example(const Setup& setup, Findings& findings) {
  shape(setup, findings);
  findings.figure(picture());
  sgd_overflows(setup, findings);
  lab::plot::Figure figure{.title = "P3: mean of x_t^2 from x_0 = 5",
                           .caption =
                               "With and without decay the method comes down from 5, lingers near "
                               "the double root 3 if q = 0, and converges to 0; SGD overflows at "
                               "once.",
                           .x = {"t", lab::plot::Figure::Scale::log},
                           .y = {"E x_t^2", lab::plot::Figure::Scale::log},
                           .series = {}};
  for (const double q : {0.0, 1.0}) {
    with_decay(setup, q, figure, findings);
    without_decay(setup, q, figure, findings);
  }
  findings.figure(std::move(figure));
}

}  // namespace bcos::lab::theory
