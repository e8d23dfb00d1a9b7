#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "lab/theory/claim.hpp"
#include "lab/theory/numerics.hpp"
#include "lab/theory/parallel.hpp"
#include "lab/theory/simulation.hpp"

namespace bcos::lab::theory {
namespace {

constexpr double kRadius = 0.5;  ///< D
constexpr double kStart = 4;
constexpr double kPower = 0.75;

/// T_t: from outside towards D, and not further; inside it lets everything be.
double transform(double x, double alpha) {
  if (std::abs(x) < kRadius) return x;
  return std::copysign(std::max(kRadius, (1 - alpha) * std::abs(x)), x);
}

/// T_t is as the theorem asks: |T x|^2 <= max{D^2, |x|^2 - c_t} with c_t = alpha_t (2 - alpha_t)
/// D^2, whose sum is infinite.
void meets_the_condition(Findings& findings) {
  double over = 0;
  for (int i = -1000; i <= 1000; ++i) {
    const double x = 0.01 * i;
    for (const double alpha : {1.0, 0.5, 0.1, 0.001}) {
      const double moved = transform(x, alpha);
      const double c = alpha * (2 - alpha) * kRadius * kRadius;
      over = std::max(over, moved * moved - std::max(kRadius * kRadius, x * x - c));
    }
  }
  findings.at_most("the toy's T_t is as the theorem asks, most over", {over}, 0);
}

/// What the paths of the toy do in windows [2^j, 2^{j+1}), and where they end.
struct Paths {
  std::vector<Vector> most;  ///< by seed: max |x_t| in each window
  Vector excess;             ///< by seed: max of (|x_t| - D) / sqrt(sum_{s >= t} alpha_s^2), late
  Vector end;
};

Paths walk(const Setup& setup, std::uint64_t steps, std::size_t seeds) {
  // alpha_t, and sqrt(sum_{s >= t} alpha_s^2).
  const Stepsizes stepsizes{1, setup.right(kPower, 0.0, 1)};
  Vector alphas(steps);
  Vector spread(steps);
  double tail = zeta(2 * kPower);
  for (std::uint64_t t = 0; t < steps; ++t) {
    alphas[t] = stepsizes.at(t);
    spread[t] = std::sqrt(tail);
    tail -= std::pow(static_cast<double>(t + 1), -2 * kPower);
  }
  const auto windows = static_cast<std::size_t>(std::bit_width(steps - 1)) + 1;
  Paths paths{std::vector<Vector>(seeds, Vector(windows, 0.0)), Vector(seeds, -1e300),
              Vector(seeds)};
  const std::uint64_t key = key_of("T15");
  parallel_for(seeds, [&](std::size_t seed) {
    double x = kStart;
    for (std::uint64_t t = 0; t < steps; ++t) {
      double& most = paths.most[seed][static_cast<std::size_t>(std::bit_width(t))];
      most = std::max(most, std::abs(x));
      if (8 * t >= steps) {
        paths.excess[seed] = std::max(paths.excess[seed], (std::abs(x) - kRadius) / spread[t]);
      }
      Noise noise(key, seed, t);
      const double pulled = setup.right(transform(x, alphas[t]), x, 2);
      x = pulled + alphas[t] * (2 * noise.uniform() - 1);
    }
    paths.end[seed] = x;
  });
  return paths;
}

lab::plot::Figure picture(const Paths& paths) {
  using Mark = lab::plot::Figure::Mark;
  lab::plot::Figure figure{
      .title = "The toy of the Dvoretzky extension",
      .caption =
          "The largest |x_t| of each doubling of t comes down to D on every "
          "path, and no further on the worst.",
      .x = {"t", lab::plot::Figure::Scale::log},
      .y = {"max |x_t|", lab::plot::Figure::Scale::log},
      .series = {{"least to most of all seeds", Mark::band, {}, {}}, {"D", Mark::dashed, {}, {}}}};
  for (std::size_t j = 1; j < paths.most.front().size(); ++j) {
    Vector column;
    for (const Vector& row : paths.most) column.push_back(row[j]);
    for (auto& series : figure.series) {
      series.x.push_back(std::ldexp(1.0, static_cast<int>(j) - 1));
    }
    figure.series[0].y.push_back(std::ranges::min(column));
    figure.series[0].y2.push_back(std::ranges::max(column));
    figure.series[1].y.push_back(kRadius);
  }
  return figure;
}

void run(const Setup& setup, Findings& findings) {
  const std::uint64_t steps = setup.scaled(20000, 60000);
  const std::size_t seeds = setup.scaled(400, 1000);
  const Paths paths = walk(setup, steps, seeds);
  double last = 0;
  for (const Vector& row : paths.most) last = std::max(last, row.back());
  findings.at_most(fmt::format("largest |x_t| / D of {} seeds in the last doubling of t", seeds),
                   {last / kRadius}, 1.05);
  findings.at_most("late (|x_t| - D) / sqrt(sum_{s>=t} alpha_s^2), worst seed",
                   {std::ranges::max(paths.excess)}, 5);
  meets_the_condition(findings);
  double end = 0;
  for (const double x : paths.end) end = std::max(end, std::abs(x));
  // Inside D nothing pulls: a limit below D for all paths would be too much to claim.
  findings.at_least("D is not too large: the furthest path ends at |x| / D", {end / kRadius}, 0.9);
  findings.number("largest |x_T| of all seeds", {end});
  findings.figure(picture(paths));
}

const RegisterClaim registered{
    {.id = "T15",
     .name = "Theorem 14",
     .title = "Dvoretzky's theorem extended",
     .statement =
         "If x_{t+1} = T_t(x_t) + y_t with |T_t x - x_*|^2 <= max{a_t, (1 + b_t)|x - x_*|^2 "
         "- c_t + h_t}, sum c_t infinite, sum b_t, sum h_t and sum E|y_t|^2 finite and "
         "E_t y_t = 0, then limsup |x_t - x_*|^2 <= lim a_t on every path. A scalar toy: "
         "T_t pulls towards [-D, D] from outside, y_t = alpha_t times a uniform number.",
     .errata = {"E10: the proof printed for it is that of the practical theorem; the extension "
                "itself is left to the literature.",
                "E29: h_t is summed from 1, which makes no difference."},
     .mutants = {"noise that is not square summable: a constant alpha",
                 "no pull: c_t = 0, so that sum c_t is finite"},
     .run = run}};

}  // namespace
}  // namespace bcos::lab::theory
