#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/theory/aimed.hpp"
#include "lab/theory/claim.hpp"
#include "lab/theory/numerics.hpp"
#include "lab/theory/simulation.hpp"

namespace bcos::lab::theory {
namespace {

enum Mutant { kConverges = 1, kHalfOfNoise, kNoAim };

constexpr Stepsizes kStepsizes{1, 0.75};
constexpr std::uint64_t kBefore = 10;  ///< the end: where aiming at it is looked at

/// The sum of alpha_t^2 over from <= t < to.
double added(const Setup& setup, std::uint64_t from, std::uint64_t to) {
  double sum = 0;
  for (std::uint64_t t = from; t < to; ++t) sum += kStepsizes.at(t) * kStepsizes.at(t);
  return setup.right(sum, sum / 2, kHalfOfNoise);
}

/// What runs without decay do: x at half-time and at the end, and the aim at the last iterate.
struct Runs {
  numbers::Moments end;          ///< |x_T - x_*|^2
  numbers::Moments half_to_end;  ///< |x_T - x_{T/2}|^2
  numbers::Moments coordinate;   ///< x_T,0
  Vector aims;  ///< <x_t - x_T, d_t / sqrt(E d_t^2)> at t = T - 10, one a replicate
  Vector ends;
};

Runs run_all(const Setup& setup, const Problem& problem, const std::string& id,
             const Vector& target, std::uint64_t steps) {
  const Simulation simulation{.problem = problem,
                              .method = conceptual(0),
                              .stepsizes = kStepsizes,
                              .steps = steps,
                              .replicates = setup.scaled(4000, 8000),
                              .key = key_of("T23/" + id)};
  const std::size_t n = problem.size();
  const std::uint64_t look_at = steps - kBefore;
  std::vector<Vector> half(simulation.replicates);
  std::vector<Vector> look(simulation.replicates);
  std::vector<Vector> next(simulation.replicates);
  std::vector<Vector> last(simulation.replicates);
  simulate(simulation, [&](const Moment& now) {
    if (now.t != steps / 2 && now.t != look_at && now.t != look_at + 1 && now.t != steps) return;
    auto& rows = now.t == steps ? last : now.t == steps / 2 ? half : now.t == look_at ? look : next;
    for (std::size_t i = 0; i < now.count; ++i) {
      rows[now.first + i].assign(now.x(i).begin(), now.x(i).end());
    }
  });
  Runs runs;
  const double alpha = kStepsizes.at(look_at);
  for (std::size_t r = 0; r < last.size(); ++r) {
    runs.end.add(squared_distance(last[r], target));
    runs.half_to_end.add(squared_distance(last[r], half[r]));
    runs.coordinate.add(last[r][0]);
    double aim = 0;
    for (std::size_t k = 0; k < n; ++k) {
      // x_{t+1} = x_t - alpha d_t / sqrt(E d_t^2).
      aim += (look[r][k] - last[r][k]) * (look[r][k] - next[r][k]) / alpha;
    }
    runs.aims.push_back(aim);
    runs.ends.push_back(last[r][0]);
  }
  return runs;
}

/// Pure noise: <e, phi> = 0 everywhere, so the condition holds, and x_t goes to a random point.
void on_pure_noise(const Setup& setup, Findings& findings) {
  const std::uint64_t steps = setup.scaled(2000, 20000);
  const auto c = *aimed("P0", problem_by_id("P0").make(), 0);
  const Runs runs = run_all(setup, *c.problem, "P0", c.target, steps);
  const double n = c.blocks();
  const double sum = added(setup, 0, steps);
  findings.equal("P0: E|x_T - x_*|^2 = D_0 + n sum alpha_t^2", runs.end.mean(),
                 setup.right(c.d0 + n * sum, 0.0, kConverges));
  const numbers::Estimate variance = runs.coordinate.variance();
  findings.equal("P0: variance of a coordinate of x_T = sum alpha_t^2", variance,
                 setup.right(sum, 0.0, kConverges));
  // What is left of the sum says how near x_T is to its limit.
  findings.equal("P0: E|x_T - x_{T/2}|^2 = n sum alpha_t^2 of the second half",
                 runs.half_to_end.mean(), n * added(setup, steps / 2, steps));
  findings.number("P0: standard deviation of a coordinate of the limit, sqrt(zeta(1.5))",
                  {std::sqrt(zeta(1.5))});
  findings.number("P0: the same at T", {std::sqrt(variance.value), 0});
  // E16: nothing aims here, and yet every step aims at the last iterate, for it has gone into it.
  const double aim = kStepsizes.at(steps - kBefore) * n;
  findings.equal("P0: E<x_t - x_T, d_t / sqrt(E d_t^2)> = alpha_t n, t = T - 10",
                 numbers::mean_of(runs.aims), setup.right(aim, 0.0, kNoAim));
  Findings::as_printed(
      findings.at_most(
          "E16: aiming at the last iterate is a sign of aiming: on noise it is not seen",
          numbers::mean_of(runs.aims), 0),
      false);
}

/// P2, where <e, phi> >= f(|e|), f > 0: the same stepsizes end at x_*.
void with_strict_aiming(const Setup& setup, Findings& findings) {
  const std::uint64_t steps = setup.scaled(2000, 20000);
  const auto c = *aimed("P2", problem_by_id("P2").make(), 0);
  const Runs runs = run_all(setup, *c.problem, "P2", c.target, steps);
  const double noise = c.d0 + c.blocks() * added(setup, 0, steps);
  const numbers::Estimate end = runs.end.mean();
  findings.at_most("P2: E|x_T - x_*|^2 over D_0 + n sum alpha_t^2",
                   {end.value / noise, end.se / noise}, setup.right(0.01, 0.0, kNoAim));
}

lab::plot::Figure picture(const Setup& setup) {
  const auto c = *aimed("P0", problem_by_id("P0").make(), 0);
  lab::plot::Figure figure{.title = "Pure noise without decay: ten paths",
                           .caption =
                               "A coordinate of x_t converges on every path, to a point of its "
                               "own: <e, phi> >= 0 holds at every step and leads nowhere.",
                           .x = {"t", lab::plot::Figure::Scale::log},
                           .y = {"x_t, first coordinate"},
                           .series = {}};
  constexpr std::size_t kPaths = 10;
  const std::uint64_t steps = setup.scaled(2000, 20000);
  const auto times = sparse_times(steps);
  std::vector<Vector> rows(kPaths);
  simulate({.problem = *c.problem,
            .method = conceptual(0),
            .stepsizes = kStepsizes,
            .steps = steps,
            .replicates = kPaths,
            .key = key_of("T23/P0")},
           [&](const Moment& now) {
             if (now.t == 0 || !std::ranges::binary_search(times, now.t)) return;
             for (std::size_t i = 0; i < now.count; ++i) rows[now.first + i].push_back(now.x(i)[0]);
           });
  for (std::size_t r = 0; r < kPaths; ++r) {
    lab::plot::Figure::Series series{"path", lab::plot::Figure::Mark::line, {}, rows[r]};
    for (const std::uint64_t t : times) {
      if (t > 0) series.x.push_back(static_cast<double>(t));
    }
    figure.series.push_back(std::move(series));
  }
  return figure;
}

void run(const Setup& setup, Findings& findings) {
  on_pure_noise(setup, findings);
  with_strict_aiming(setup, findings);
  findings.figure(picture(setup));
}

const RegisterClaim registered{
    {.id = "T23",
     .name = "Section 5.2.3",
     .title = "aiming without decay is not enough",
     .statement = "With lambda = 0 the condition <e, phi> >= 0 holds on pure noise, with any x_*, "
                  "and under sum alpha_t^2 < infinity x_t converges to a random point, of variance "
                  "sum alpha_t^2 in every coordinate: convergence to x_* needs <e, phi> >= f(|e|), "
                  "f > 0 away from 0 (T8). Nor is it a sign of aiming that steps aim at the last "
                  "iterate: on pure noise E<x_t - x_T, d_t/sqrt(E d_t^2)> = alpha_t n.",
     .errata = {"E16: the empirical check of aiming takes the last iterate for x_*, at which even "
                "pure noise aims."},
     .mutants = {"x_t converges to x_*", "half of alpha_t^2 in the noise that is added",
                 "no aim at the last iterate on noise, a perfect one on P2"},
     .run = run}};

}  // namespace
}  // namespace bcos::lab::theory
