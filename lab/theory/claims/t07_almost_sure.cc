#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "lab/theory/aimed.hpp"
#include "lab/theory/claim.hpp"
#include "lab/theory/formulas.hpp"
#include "lab/theory/numerics.hpp"
#include "lab/theory/windows.hpp"

namespace bcos::lab::theory {
namespace {

/// alpha_0 lambda = 1: as long as they may be.
Stepsizes stepsizes_of(const Setup& setup, const Aimed& c) {
  return {1 / c.lambda, setup.right(1.0, 0.0, 1)};
}

/// The sum of 1/(s+1)^2 over s >= from.
double tail_of_squares(std::uint64_t from) {
  double sum = zeta(2);
  for (std::uint64_t s = 0; s < from; ++s) sum -= 1 / std::pow(static_cast<double>(s + 1), 2);
  return sum;
}

/// What replicates that start at x_* do: how far they ever get, and what their distances add up to.
struct FromTarget {
  Vector ever;   ///< max of |e_t|^2 over t >= 0
  Vector late;   ///< max over t >= late_from
  Vector spent;  ///< sum of (2 alpha_t lambda - alpha_t^2 lambda^2) |e_t|^2, and |e_T|^2
};
constexpr std::uint64_t kLateFrom = 64;

FromTarget from_target(const Setup& setup, const Aimed& c, std::uint64_t steps) {
  const Simulation simulation{.problem = *c.problem,
                              .method = conceptual(c.lambda),
                              .stepsizes = stepsizes_of(setup, c),
                              .steps = steps,
                              .replicates = setup.scaled(2000, 10000),
                              .key = key_of("T7/from target/" + c.id),
                              .x0 = c.target};
  FromTarget seen;
  seen.ever.assign(simulation.replicates, 0.0);
  seen.late = seen.spent = seen.ever;
  simulate(simulation, [&](const Moment& now) {
    const double al = simulation.stepsizes.at(now.t) * c.lambda;
    for (std::size_t i = 0; i < now.count; ++i) {
      const std::size_t r = now.first + i;
      const double distance = squared_distance(now.x(i), c.target);
      seen.ever[r] = std::max(seen.ever[r], distance);
      if (now.t >= kLateFrom) seen.late[r] = std::max(seen.late[r], distance);
      seen.spent[r] += (now.t < steps ? 2 * al - al * al : 1) * distance;
    }
  });
  return seen;
}

numbers::Estimate share_above(const Vector& values, double level) {
  const auto hits = std::ranges::count_if(values, [&](double value) { return value >= level; });
  return numbers::share_of(static_cast<std::uint64_t>(hits), values.size());
}

/// P(sup_{t >= T_0} |e_t|^2 >= eta) <= (E|e_{T_0}|^2 + B_* sum_{s >= T_0} alpha_s^2) / eta, with
/// R_{T_0} for the expectation.
void ville(const Setup& setup, const Aimed& c, const FromTarget& seen, Findings& findings) {
  const double alpha = 1 / c.lambda;
  for (const std::uint64_t from : {std::uint64_t{0}, kLateFrom}) {
    const std::uint64_t once[] = {from};
    const double there = bound_recursion({alpha, 1}, c.lambda, c.b_star, 0, once).front();
    const double noise = c.b_star * alpha * alpha * tail_of_squares(from);
    for (const double bound : {0.9, 0.3}) {
      const double eta = (there + noise) / bound;
      findings.at_most(
          fmt::format("{}: share of seeds with |e_t|^2 >= {:.3g} at some t >= {}", c.id, eta, from),
          share_above(from == 0 ? seen.ever : seen.late, eta), setup.right(bound, there / eta, 2));
    }
  }
}

/// Robbins and Siegmund: what is taken away in all is no more than what was there and was added.
void summable(const Aimed& c, const FromTarget& seen, std::uint64_t steps, Findings& findings) {
  const double alpha = 1 / c.lambda;
  const double added = c.b_star * alpha * alpha * (tail_of_squares(0) - tail_of_squares(steps));
  const std::string what = "E sum (2 al - al^2)|e_t|^2 + E|e_T|^2";
  if (c.id == "P0") {
    findings.equal(fmt::format("P0: {} = B_* sum alpha_t^2", what), numbers::mean_of(seen.spent),
                   added);
  } else {
    findings.at_most(fmt::format("{}: {} <= B_* sum alpha_t^2", c.id, what),
                     numbers::mean_of(seen.spent), added);
  }
}

double quantile(Vector values, double share) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

lab::plot::Figure picture(const Aimed& c, const Windows& windows) {
  using Mark = lab::plot::Figure::Mark;
  lab::plot::Figure figure{
      .title = fmt::format("{}: the largest |x_t - x_*|^2 from 2^j to 2^(j+1)", c.id),
      .caption =
          "Not the mean alone: the worst of all seeds comes down, window "
          "after window, as 1/t.",
      .x = {"t = 2^j", lab::plot::Figure::Scale::log},
      .y = {"max |x_t - x_*|^2", lab::plot::Figure::Scale::log},
      .series = {{"middle nine tenths of the seeds", Mark::band, {}, {}},
                 {"median seed", Mark::line, {}, {}},
                 {"worst seed", Mark::points, {}, {}},
                 {"like 1/t", Mark::dashed, {}, {}}}};
  for (std::size_t j = 0; j < windows.count(); ++j) {
    Vector column;
    for (const Vector& row : windows.most) column.push_back(row[j]);
    const double t = std::ldexp(1.0, static_cast<int>(windows.first + j));
    for (auto& series : figure.series) series.x.push_back(t);
    figure.series[0].y.push_back(quantile(column, 0.05));
    figure.series[0].y2.push_back(quantile(column, 0.95));
    figure.series[1].y.push_back(quantile(column, 0.5));
    figure.series[2].y.push_back(std::ranges::max(column));
    figure.series[3].y.push_back(figure.series[1].y[0] * figure.series[1].x[0] / t);
  }
  return figure;
}

/// Every seed by itself: the maxima over dyadic windows fall, and so do the parts of
/// sum alpha_t |e_t|^2.
void every_seed(const Setup& setup, const Aimed& c, Findings& findings) {
  constexpr std::size_t kFirst = 3;
  const auto last = static_cast<std::size_t>(std::bit_width(setup.scaled(1 << 14, 1 << 17))) - 1;
  const Simulation simulation{.problem = *c.problem,
                              .method = conceptual(c.lambda),
                              .stepsizes = stepsizes_of(setup, c),
                              .replicates = setup.scaled(64, 500),
                              .key = key_of("T7/windows/" + c.id)};
  const Windows windows = watch_windows(simulation, c.target, kFirst, last);
  const Vector falls = window_slopes(windows.most);
  findings.at_most(
      fmt::format("{}: log2 of max|e_t|^2 a doubling of t, worst of {} seeds", c.id, falls.size()),
      {std::ranges::max(falls)}, -0.5);
  findings.at_most(fmt::format("{}: log2 of sum alpha_t|e_t|^2 a doubling of t, worst seed", c.id),
                   {std::ranges::max(window_slopes(windows.weighted_sum))}, -0.5);
  findings.number(fmt::format("{}: log2 of max|e_t|^2 a doubling, mean", c.id),
                  numbers::mean_of(falls));
  if (c.id == "P0" || c.id == "P1") findings.figure(picture(c, windows));
}

void run(const Setup& setup, Findings& findings) {
  const std::uint64_t steps = setup.scaled(400, 2000);
  for (const Aimed& c : aimed_problems()) {
    setup.stage(c.id);
    every_seed(setup, c, findings);
    const FromTarget seen = from_target(setup, c, steps);
    ville(setup, c, seen, findings);
    summable(c, seen, steps, findings);
  }
}

const RegisterClaim registered{
    {.id = "T7",
     .name = "Theorem 2",
     .title = "almost sure convergence",
     .statement =
         "With lambda > 0, sum alpha_t infinite and sum alpha_t^2 finite, |x_t - x_*| -> 0 "
         "on every path. The share of paths that are ever at |e_t|^2 >= eta from T_0 on "
         "is at most (E|e_{T_0}|^2 + B_* sum_{s >= T_0} alpha_s^2) / eta, and sum alpha_t "
         "|e_t|^2 is finite.",
     .errata = {"E18: the theorem allows alpha_t lambda = 1, the lemma it rests on is stated for "
                "less than 1; it holds for both.",
                "E26: conditioning on the distances alone, as the proof does, is harmless."},
     .mutants = {"a constant stepsize",
                 "the share of late excursions bounded by E|e_{T_0}|^2 / eta "
                 "alone"},
     .run = run}};

}  // namespace
}  // namespace bcos::lab::theory
