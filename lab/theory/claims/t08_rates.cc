#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/theory/claims/t08_without_decay.hpp"
#include "lab/theory/curves.hpp"
#include "lab/theory/formulas.hpp"
#include "lab/theory/problems/quadratic.hpp"

namespace bcos::lab::theory {
namespace {

/// <e, phi> >= mu |e|^2 for all e with |e_k| <= r.
double mu_within(const Setup& setup, const Quadratic& problem, double r) {
  constexpr int kSteepest = 7;  // of T8's mutants
  double mu = std::numeric_limits<double>::infinity();
  double steepest = 0;
  for (std::size_t k = 0; k < problem.size(); ++k) {
    mu = std::min(mu, problem.a[k] / std::hypot(problem.a[k] * r, problem.s[k]));
    steepest = std::max(steepest, problem.a[k] / problem.s[k]);
  }
  return setup.right(mu, steepest, kSteepest);
}

void condition(const Setup& setup, const Quadratic& problem, double r, Findings& findings) {
  const double mu = mu_within(setup, problem, r);
  double least = std::numeric_limits<double>::infinity();
  Vector x(problem.size());
  for (std::size_t i = 0; i < setup.scaled(300, 1000); ++i) {
    Noise noise(key_of("T8/mu"), i, 0);
    const double scale = r * std::pow(10, -3 * noise.uniform());
    for (std::size_t k = 0; k < x.size(); ++k) {
      x[k] = problem.c[k] + scale * (2 * noise.uniform() - 1);
    }
    const double aim = aiming_margin(problem, x, 0, problem.c);
    least = std::min(least, aim / squared_distance(x, problem.c));
  }
  findings.at_least(fmt::format("P1: least <e,phi> / |e|^2 over |e_k| <= {}", r), {least}, mu);
  // As far as it could go, and no further: <e, phi> <= |e|_1.
  const double n = static_cast<double>(problem.size());
  double most = 0;
  for (const double away : {1.0, 2.0, 10.0}) {
    const double step = away / mu;
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = problem.c[k] + step;
    const double aim = aiming_margin(problem, x, 0, problem.c);
    most = std::max(most, aim / (n * step));
    if (away == 2) {
      Findings::as_printed(
          findings.at_least("P1: <e,phi> / |e|^2 at |e| = 2 sqrt(n) / mu, as if everywhere",
                            {aim / (n * step * step)}, mu),
          false);
    }
  }
  findings.number("P1: most of |e|_1 that <e,phi> is, far away", {most});
}

/// E|e_t|^2 over the paths that have not yet left |e_k| <= r is at most R_t.
void stopped(const Setup& setup, const Quadratic& problem, double r, Findings& findings) {
  const Stepsizes stepsizes{1, 0.75};
  const std::uint64_t steps = setup.scaled(500, 5000);
  const std::uint64_t replicates = setup.scaled(1000, 10000);
  const double mu = mu_within(setup, problem, r);
  const Simulation simulation{.problem = problem,
                              .method = conceptual(0),
                              .stepsizes = stepsizes,
                              .steps = steps,
                              .replicates = replicates,
                              .key = key_of("T8/stopped")};
  const auto times = even_log_times(steps, 40);
  std::vector<Vector> kept(times.size(), Vector(replicates, 0.0));
  std::vector<char> left(replicates, 0);
  simulate(simulation, [&](const Moment& now) {
    const auto found = std::ranges::lower_bound(times, now.t);
    const bool asked = found != times.end() && *found == now.t;
    for (std::size_t i = 0; i < now.count; ++i) {
      char& out = left[now.first + i];
      for (std::size_t k = 0; k < problem.size(); ++k) {
        if (std::abs(now.x(i)[k] - problem.c[k]) > r) out = 1;
      }
      if (asked && out == 0) {
        kept[static_cast<std::size_t>(found - times.begin())][now.first + i] =
            squared_distance(now.x(i), problem.c);
      }
    }
  });
  double bound = squared_distance(problem.start(), problem.c);
  Course course;
  Vector allowed;
  std::uint64_t t = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    for (; t < times[i]; ++t) {
      const double alpha = stepsizes.at(t);
      bound = (1 - 2 * alpha * mu) * bound + alpha * alpha * static_cast<double>(problem.size());
    }
    allowed.push_back(bound);
    course.push_back(numbers::mean_of(kept[i]));
  }
  within(findings, fmt::format("P1: E|e_t|^2 of the paths within |e_k| <= {}", r), course, allowed);
  findings.number(
      fmt::format("P1: share of paths that leave |e_k| <= {}", r),
      numbers::share_of(static_cast<std::uint64_t>(std::ranges::count(left, 1)), replicates));
}

/// (t+1) E(x_k - c_k)^2 -> alpha^2 / (2 alpha a/s - 1), coordinate by coordinate.
void limits(const Setup& setup, const Quadratic& problem, Findings& findings) {
  constexpr double kAlpha = 2;
  const std::uint64_t steps = setup.scaled(1000, 10000);
  const std::uint64_t late[] = {steps, 1000000};
  lab::plot::Figure figure{
      .title = "P1 without decay: (t+1) E(x_k - c_k)^2 under 2 / (t+1)",
      .caption = "Each coordinate has its own limit (dashed), given by a/s alone.",
      .x = {"t", lab::plot::Figure::Scale::log},
      .y = {"(t+1) E(x_k - c_k)^2", lab::plot::Figure::Scale::log},
      .series = {}};
  const auto times = even_log_times(steps, 60);
  const auto after = [](std::uint64_t t) { return static_cast<double>(t + 1); };
  for (std::size_t k = 0; k < problem.size(); ++k) {
    const double slope = problem.a[k] / problem.s[k];
    // Where 2 alpha a/s <= 1 the rate is slower than 1/t.
    if (2 * kAlpha * slope <= 1) continue;
    Quadratic one;
    one.a = {problem.a[k]};
    one.c = {problem.c[k]};
    one.s = {problem.s[k]};
    const Vector start = {problem.start()[k]};
    const Simulation simulation{.problem = one,
                                .method = conceptual(0),
                                .stepsizes = {kAlpha, 1},
                                .steps = steps,
                                .replicates = setup.scaled(10000, 20000),
                                .key = key_of(fmt::format("T8/limits/{}", k)),
                                .x0 = start};
    const Course course =
        course_of(simulation, [&](ConstSpan x) { return squared_distance(x, one.c); });
    const Vector linear =
        bound_recursion({kAlpha, 1}, slope, 1, squared_distance(start, one.c), late);
    const std::string where = fmt::format("P1, lambda 0, coordinate {}", k);
    const double limit =
        setup.right(inverse_limit(kAlpha, slope, 1), kAlpha * kAlpha / (2 * kAlpha * slope), 3);
    const double expected =
        after(steps) * linear[0] * setup.right(1.0, limit / inverse_limit(kAlpha, slope, 1), 3);
    findings.equal(fmt::format("{}: (t+1) E(x_k - c_k)^2 at t = {}, linearised", where, steps),
                   {after(steps) * course.back().value, after(steps) * course.back().se}, expected,
                   0.02 * expected);
    findings.equal(fmt::format("{}: its limit alpha^2 / (2 alpha a/s - 1)", where),
                   {after(late[1]) * linear[1]}, limit, 1e-4 * limit);
    add_course(figure, fmt::format("coordinate {}", k), course, times, after);
    add_level(figure, fmt::format("coordinate {}", k), limit, times);
  }
  findings.figure(std::move(figure));
}

}  // namespace

void rates_without_decay(const Setup& setup, Findings& findings) {
  constexpr double kRadius = 3;
  const Quadratic problem;
  condition(setup, problem, kRadius, findings);
  stopped(setup, problem, kRadius, findings);
  limits(setup, problem, findings);
}

}  // namespace bcos::lab::theory
