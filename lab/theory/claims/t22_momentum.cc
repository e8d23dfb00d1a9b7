#include <fmt/format.h>

#include <cmath>

#include "lab/theory/claim.hpp"
#include "lab/theory/curves.hpp"
#include "lab/theory/formulas.hpp"
#include "lab/theory/limits.hpp"
#include "lab/theory/problems/quadratic.hpp"

namespace bcos::lab::theory {
namespace {

enum Mutant { kNoMemory = 1, kOneStep, kGradientsSlope, kGradientsTarget };

constexpr double kLambda = 0.5;
constexpr double kBeta = 0.9;

/// One coordinate without any noise: the share of steps whose momentum does not aim, for it has
/// carried x over the target.
double overshooting(const Setup& setup, double lambda, std::uint64_t steps) {
  Quadratic problem;
  problem.a = {1};
  problem.c = {1};
  problem.s = {0};
  const double beta = setup.right(kBeta, 0.0, kNoMemory);
  const Simulation simulation{.problem = problem,
                              .method = conceptual_momentum(lambda, beta),
                              .stepsizes = {1, 0.75},
                              .steps = steps,
                              .key = key_of("T22/overshoot"),
                              .x0 = {3}};
  double before = 3;
  std::uint64_t missed = 0;
  simulate(simulation, [&](const Moment& now) {
    if (now.t == 0) return;
    // phi_t = sign(m_t), for E_t m_t = m_t.
    const double phi = now.d(0)[0] > 0 ? 1 : -1;
    if ((before - 1) * (phi + lambda) < 0) ++missed;
    before = now.x(0)[0];
  });
  return static_cast<double>(missed) / static_cast<double>(steps);
}

void without_noise(const Setup& setup, Findings& findings) {
  const std::uint64_t steps = setup.scaled(10'000, 100'000);
  for (const double lambda : {kLambda, 0.0}) {
    const double share = overshooting(setup, lambda, steps);
    findings.at_least(fmt::format("no noise, lambda {}: share of steps that do not aim", lambda),
                      {share}, 0.2);
    findings.number(fmt::format("no noise, lambda {}: that share", lambda), {share});
  }
}

/// Near momentum's own target the runs are those of a linear recursion whose noise is the long-run
/// one: kappa = psi' + lambda, psi with momentum at rest.
struct Linear {
  Vector target, kappa, variance;
};

Linear linear_at(const Setup& setup, const Quadratic& problem) {
  Linear linear;
  const Method method = conceptual_momentum(kLambda, kBeta);
  linear.target = *exact_limit(problem, method, kLambda);
  const Vector slow = problem.kappa(kLambda);
  for (std::size_t k = 0; k < problem.size(); ++k) {
    const double mean = problem.a[k] * (linear.target[k] - problem.c[k]);
    const double s = problem.s[k];
    constexpr double kNear = 1e-4;
    const double slope = (conceptual_momentum_field(mean + kNear, s, kBeta) -
                          conceptual_momentum_field(mean - kNear, s, kBeta)) /
                         (2 * kNear);
    linear.kappa.push_back(setup.right(problem.a[k] * slope + kLambda, slow[k], kGradientsSlope));
    const double average = conceptual_momentum_field(mean, s, kBeta);
    linear.variance.push_back(
        setup.right(long_run_variance(mean, s, kBeta), 1 - average * average, kOneStep));
  }
  return linear;
}

void rate(const Setup& setup, Findings& findings) {
  constexpr double kAlpha = 1;
  const Quadratic problem;
  const Linear linear = linear_at(setup, problem);
  const std::uint64_t steps = setup.scaled(10'000, 50'000);
  const Vector around = setup.right(linear.target, *problem.target(kLambda), kGradientsTarget);
  const auto times = even_log_times(steps, 60);
  const Simulation simulation{.problem = problem,
                              .method = conceptual_momentum(kLambda, kBeta),
                              .stepsizes = {kAlpha, 1},
                              .steps = steps,
                              .replicates = setup.scaled(1024, 8192),
                              .key = key_of("T22/rate")};
  const auto after = [](std::uint64_t t) { return static_cast<double>(t + 1); };
  for (std::size_t k = 0; k < problem.size(); ++k) {
    findings.number(fmt::format("P1, coordinate {}: long-run variance of a step", k),
                    {linear.variance[k]});
  }
  std::vector<Vector> squares(problem.size() + 1, Vector(simulation.replicates));
  std::vector<Vector> path(times.size(), Vector(simulation.replicates));
  simulate(simulation, [&](const Moment& now) {
    const auto found = std::ranges::lower_bound(times, now.t);
    if (found == times.end() || *found != now.t) return;
    for (std::size_t i = 0; i < now.count; ++i) {
      path[static_cast<std::size_t>(found - times.begin())][now.first + i] =
          after(now.t) * squared_distance(now.x(i), around);
      if (now.t != steps) continue;
      for (std::size_t k = 0; k < problem.size(); ++k) {
        const double e = now.x(i)[k] - around[k];
        squares[k][now.first + i] = after(steps) * e * e;
      }
    }
  });
  lab::plot::Figure figure{
      .title = "P1 with conceptual momentum: (t+1) E|x_t - x_M|^2 under 1/(t+1)",
      .caption =
          "No theorem of the paper covers it, and still the distance from "
          "momentum's own target falls like 1/t, to the limit (dashed) that "
          "the long-run variance of its steps gives.",
      .x = {"t", lab::plot::Figure::Scale::log},
      .y = {"(t+1) E|x_t - x_M|^2", lab::plot::Figure::Scale::log},
      .series = {{"mean", lab::plot::Figure::Mark::line, {}, {}}}};
  double limit = 0;
  for (std::size_t k = 0; k < problem.size(); ++k) {
    const double one = inverse_limit(kAlpha, linear.kappa[k], linear.variance[k]);
    limit += one;
    // Averaging leaves out a share of alpha_t kappa times the memory.
    findings.equal(fmt::format("P1, coordinate {}: (t+1) E(x_k - x_Mk)^2 at t = {}", k, steps),
                   numbers::mean_of(squares[k]), one, 0.04 * one);
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    figure.series[0].x.push_back(static_cast<double>(times[i]));
    figure.series[0].y.push_back(numbers::mean_of(path[i]).value);
  }
  add_level(figure, "limit", limit, times);
  findings.figure(std::move(figure));
}

void run(const Setup& setup, Findings& findings) {
  rate(setup, findings);
  without_noise(setup, findings);
}

const RegisterClaim registered{
    {.id = "T22",
     .name = "in the place of Assumption 1",
     .title = "momentum by averaging",
     .statement =
         "With momentum Assumption 1 fails near the target without any noise as well, for momentum "
         "overshoots: at a quarter of the steps. What holds instead comes from averaging: x_t goes "
         "to x_M, the zero of psi(x) + lambda x with momentum at rest, and under alpha/(t+1) the "
         "scaled distance (t+1) E(x_k - x_Mk)^2 tends to alpha^2 nu / (2 alpha kappa - 1), kappa = "
         "psi' + lambda, nu the sum of all Cov(y_0, y_j) of the steps y.",
     .errata = {"E15: Assumption 1 'for all t almost surely' excludes momentum, with noise (T18) "
                "and without. Theorems 2, 5, 7 and 13 say nothing about BCOS-m, BCOS-c and Adam."},
     .mutants = {"no momentum: beta = 0", "the variance of one step for the long-run one",
                 "the slope of the gradient's phi for that of psi",
                 "distances from the gradient's target"},
     .run = run}};

}  // namespace
}  // namespace bcos::lab::theory
