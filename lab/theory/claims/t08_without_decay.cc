#include "lab/theory/claims/t08_without_decay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "lab/theory/formulas.hpp"
#include "lab/theory/problems/examples.hpp"
#include "lab/theory/windows.hpp"

namespace bcos::lab::theory {
namespace {

enum Mutant { kHalfThreshold = 1, kOnce, kHalfLimit, kHalfNoise, kConstant, kTwiceF, kSteepest };

constexpr Stepsizes kStepsizes{1, 0.75};
constexpr double kCoefficient = 1;  ///< q of the polynomial

/// (a): |x_{t+1} - x_*|^2 is expected to fall exactly for alpha below 2 <e, phi> / m.
void threshold(const Setup& setup, const Aimed& c, Findings& findings) {
  const std::size_t count = setup.scaled(300, 1000);
  double off = 0;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Noise noise(key_of("T8/threshold/" + c.id), i, 0);
    const double scale = std::pow(10, -3 + 5 * noise.uniform());
    Vector x = c.target;
    for (double& value : x) value += scale * noise.normal();
    const double aim = aiming_margin(*c.problem, x, 0, c.target);
    const double most = setup.right(2.0, 1.0, kHalfThreshold) * aim / c.blocks();
    const auto change = [&](double alpha) {
      return one_step_distance(*c.problem, x, alpha, 0, c.target) - squared_distance(x, c.target);
    };
    off = std::max(off, std::abs(change(most)) / (squared_distance(x, c.target) + most * aim));
    if (!(change(0.99 * most) < 0 && change(1.01 * most) > 0)) ++wrong;
  }
  findings.equal(fmt::format("{}: at alpha = 2<e,phi>/m the distance stays, worst change", c.id),
                 {off}, 0);
  findings.equal(
      fmt::format("{}: points of {} where 1 % less or more does not decide", c.id, count),
      {static_cast<double>(wrong)}, 0);
}

/// The same by a run: from x_0 with this alpha the distance stays in the mean.
void threshold_sampled(const Setup& setup, const Aimed& c, Findings& findings) {
  const double aim = aiming_margin(*c.problem, c.problem->start(), 0, c.target);
  const double most = setup.right(2.0, 1.0, kHalfThreshold) * aim / c.blocks();
  const Simulation simulation{.problem = *c.problem,
                              .method = conceptual(0),
                              .stepsizes = {most},
                              .replicates = setup.scaled(20000, 200000),
                              .key = key_of("T8/most/" + c.id)};
  const std::uint64_t once[] = {1};
  const numbers::Estimate after = means_at(simulation, once, [&](ConstSpan x) {
                                    return squared_distance(x, c.target);
                                  }).front();
  findings.equal(fmt::format("{}: E|x_1 - x_*|^2 = D_0 at alpha = 2<e,phi>/m, sampled", c.id),
                 after, c.d0);
}

/// Nothing is lost on the way: E|e_T|^2 + 2 sum alpha_t E<e_t, phi> = D_0 + m sum alpha_t^2. Hence
/// sum alpha_t <e_t, phi> is finite, which is what almost sure convergence comes from.
void balance(const Setup& setup, const Aimed& c, Findings& findings) {
  const std::uint64_t steps = setup.scaled(100, 2000);
  const Simulation simulation{.problem = *c.problem,
                              .method = conceptual(0),
                              .stepsizes = kStepsizes,
                              .steps = steps,
                              .replicates = setup.scaled(2000, 10000),
                              .key = key_of("T8/balance/" + c.id)};
  Vector sums(simulation.replicates, 0.0);
  simulate(simulation, [&](const Moment& now) {
    const double twice = setup.right(2.0, 1.0, kOnce) * kStepsizes.at(now.t);
    for (std::size_t i = 0; i < now.count; ++i) {
      sums[now.first + i] += now.t < steps
                                 ? twice * aiming_margin(*c.problem, now.x(i), 0, c.target)
                                 : squared_distance(now.x(i), c.target);
    }
  });
  double right = c.d0;
  for (std::uint64_t t = 0; t < steps; ++t) {
    right +=
        setup.right(c.blocks(), c.blocks() / 2, kHalfNoise) * kStepsizes.at(t) * kStepsizes.at(t);
  }
  findings.equal(fmt::format("{}: E|e_T|^2 + 2 sum alpha_t E<e,phi> = D_0 + m sum alpha_t^2", c.id),
                 numbers::mean_of(sums), right);
}

/// (b): f of each example, in closed form.
double f_of(const Aimed& c, double r) {
  if (c.id == "P2") return r / std::hypot(1, MultiplicativeNoise().s);
  if (c.id == "P4") return r / std::hypot(1, Logarithm().s * r);
  // |E d| >= q |x|, and phi grows with it.
  const Polynomial p(kCoefficient);
  return p.q * r * r / std::hypot(p.q * r, p.s);
}

void aims_by_f(const Setup& setup, const Aimed& c, Findings& findings) {
  const std::size_t count = setup.scaled(300, 1000);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < count; ++i) {
    Noise noise(key_of("T8/f/" + c.id), i, 0);
    const double scale = std::pow(10, -3 + 4 * noise.uniform());
    Vector x = c.target;
    for (double& value : x) value += scale * noise.normal();
    const double r = std::sqrt(squared_distance(x, c.target));
    const double f = setup.right(1.0, 2.0, kTwiceF) * f_of(c, r);
    least = std::min(least, aiming_margin(*c.problem, x, 0, c.target) / f);
  }
  // Where f is attained: on an axis, at the double root of the polynomial.
  Vector there = c.target;
  there[0] += 3;
  const double f = setup.right(1.0, 2.0, kTwiceF) * f_of(c, 3);
  const double attained = aiming_margin(*c.problem, there, 0, c.target) / f;
  findings.at_least(fmt::format("{}: least <e,phi> / f(|e|) over {} points", c.id, count), {least},
                    1, 1e-9);
  findings.equal(fmt::format("{}: <e,phi> / f(|e|) where f is attained", c.id), {attained}, 1);
  // Any f that the condition holds with is at most this near 0.
  Vector x = c.target;
  x[0] += 1e-6;
  Findings::as_printed(
      findings.at_least(fmt::format("{}: <e,phi> >= f(|e|) at |e| = 1e-6 with f(0) = 0.01", c.id),
                        {aiming_margin(*c.problem, x, 0, c.target)}, 0.01),
      false);
}

/// The largest |e_t| of each path in the last doubling of t: its mean over sixteen at a time of the
/// largest, in units of sqrt(alpha_t).
void every_seed(const Setup& setup, const Aimed& c, Findings& findings) {
  const auto last = static_cast<std::size_t>(std::bit_width(setup.scaled(1 << 13, 1 << 16))) - 1;
  const Stepsizes stepsizes{1, setup.right(kStepsizes.p, 0.0, kConstant)};
  const Simulation simulation{.problem = *c.problem,
                              .method = conceptual(0),
                              .stepsizes = stepsizes,
                              .replicates = setup.scaled(128, 1024),
                              .key = key_of("T8/windows/" + c.id)};
  const Windows windows = watch_windows(simulation, c.target, 6, last);
  Vector ends;
  for (const Vector& row : windows.most) ends.push_back(std::sqrt(row.back()));
  const double alpha = kStepsizes.at(std::uint64_t{1} << (last - 1));
  const numbers::Estimate largest = numbers::largest_in_batches(ends, 16);
  constexpr double kMany = 1;
  findings.at_most(
      fmt::format("{}: largest |e_t| of {} paths in the last doubling over sqrt alpha_t", c.id,
                  ends.size() / 16),
      {largest.value / std::sqrt(alpha), largest.se / std::sqrt(alpha)}, kMany);
  findings.number(fmt::format("{}: log2 of max|e_t|^2 a doubling of t, mean", c.id),
                  numbers::mean_of(window_slopes(windows.most)));
}

void run(const Setup& setup, Findings& findings) {
  std::vector<Aimed> examples;
  examples.push_back(*aimed("P2", std::make_unique<MultiplicativeNoise>(), 0));
  examples.push_back(*aimed("P3, q = 1", std::make_unique<Polynomial>(kCoefficient), 0));
  examples.push_back(*aimed("P4", std::make_unique<Logarithm>(), 0));
  for (const Aimed& c : aimed_without_decay()) {
    setup.stage(c.id);
    // Without a signal there is nothing to aim at, and the distance grows whatever alpha.
    if (c.id != "P0" && c.id != "P0b") {
      threshold_sampled(setup, c, findings);
      threshold(setup, c, findings);
    }
    balance(setup, c, findings);
  }
  for (const Aimed& c : examples) {
    setup.stage(c.id);
    every_seed(setup, c, findings);
    aims_by_f(setup, c, findings);
  }
  rates_without_decay(setup, findings);
}

const RegisterClaim registered{
    {.id = "T8",
     .name = "Section 5.2.3",
     .title = "convergence, lambda = 0",
     .statement =
         "Without decay: (a) the distance is expected to fall exactly for alpha < 2 <e, "
         "phi> / n; (b) <e, phi> >= f(|e|) with f continuous, f(0) = 0 and f > 0 elsewhere "
         "gives almost sure convergence; (c) <e, phi> >= mu |e|^2 gives the rates of "
         "R_{t+1} = (1 - 2 alpha_t mu) R_t + alpha_t^2 n while it lasts.",
     .errata = {"E11: <e, phi> >= mu |e|^2 cannot hold everywhere, since <e, phi> <= |e|_1: only "
                "for |e| <= sqrt(n) / mu.",
                "E12: f cannot be strictly positive at 0; f(0) = 0 is enough. The theorem meant is "
                "the one on the conceptual method."},
     .mutants = {"the threshold <e, phi> / n of the printed inequality",
                 "alpha_t <e, phi> once in the balance of all steps",
                 "the limit alpha^2 / (2 alpha a/s) for alpha^2 / (2 alpha a/s - 1)",
                 "half of alpha_t^2 n in the balance of all steps", "a constant stepsize",
                 "f twice as large", "mu from the steepest coordinate, not the flattest"},
     .run = run}};

}  // namespace
}  // namespace bcos::lab::theory
