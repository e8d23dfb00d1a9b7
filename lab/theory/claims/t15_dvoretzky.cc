#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "lab/theory/claim.hpp"
#include "lab/theory/parallel.hpp"
#include "lab/theory/simulation.hpp"

namespace bcos::lab::theory {
namespace {

enum Mutant { kNoPull = 1, kConstantNoise, kBiasedNoise, kNotSummable, kHalfOfA, kHalfOfG };

constexpr double kLimit = 0.25;  ///< a_infinity
constexpr Stepsizes kStepsizes{1, 0.75};

struct Point {
  double x = 0;
  double y = 0;
  double norm2() const { return x * x + y * y; }
};
constexpr Point kStart{4, 4};  ///< x_0 - x_*

/// The worst transformation that the theorem allows, in the plane, about x_*: its condition holds
/// with equality, so that it leads in from outside no faster than it must, and out again from
/// inside as far as it may. It turns about x_* by what it knows of the point before.
Point transform(const Setup& setup, std::uint64_t t, const Point& now, const Point& before) {
  const double time = static_cast<double>(t + 1);
  const double alpha = kStepsizes.at(t);
  const bool right = before.x > 0;
  const double a = kLimit * (1 + 2 / std::sqrt(time));
  const double b = 0.3 * std::pow(time, -1.5);
  const double h = setup.right(2 * std::pow(time, -1.5), alpha, kNotSummable);
  // c_t is random: it depends on the path.
  const double u = now.norm2();
  const double c = setup.right(alpha * u * (right ? 1 : 0.5), 0.0, kNoPull);
  const double to = std::sqrt(std::max(a, (1 + b) * u - c + h));
  const double angle = std::atan2(now.y, now.x) + (right ? 0.3 : -0.1);
  return {to * std::cos(angle), to * std::sin(angle)};
}

/// Noise without bound, whose variance depends on the path.
Point noise_at(const Setup& setup, std::uint64_t t, Noise& noise, const Point& now) {
  const double alpha = setup.right(kStepsizes.at(t), 0.3, kConstantNoise);
  const double size = alpha * (now.x > now.y ? 1 : 0.5);
  const double out = setup.right(0.0, 2 * size / std::sqrt(now.norm2()), kBiasedNoise);
  return {size * noise.normal() + out * now.x, size * noise.normal() + out * now.y};
}

struct Paths {
  std::vector<Vector> most;   ///< by seed: max |x_t - x_*| in [2^j, 2^{j+1})
  std::vector<Vector> least;  ///< the least of it
  Vector late;                ///< by seed: mean of |x_t - x_*| over the last half
  Vector late_most;           ///< by seed: the largest of it there
};

Paths walk(const Setup& setup, std::uint64_t steps, std::size_t seeds) {
  const auto windows = static_cast<std::size_t>(std::bit_width(steps - 1)) + 1;
  Paths paths{std::vector<Vector>(seeds, Vector(windows, 0.0)),
              std::vector<Vector>(seeds, Vector(windows, 1e300)), Vector(seeds), Vector(seeds)};
  const std::uint64_t half = steps - steps / 2;
  const std::uint64_t key = key_of("T15");
  parallel_for(seeds, [&](std::size_t seed) {
    Point now = kStart;
    Point before = now;
    for (std::uint64_t t = 0; t < steps; ++t) {
      const double away = std::sqrt(now.norm2());
      const auto j = static_cast<std::size_t>(std::bit_width(t));
      paths.most[seed][j] = std::max(paths.most[seed][j], away);
      paths.least[seed][j] = std::min(paths.least[seed][j], away);
      if (2 * t >= steps) {
        paths.late[seed] += away / static_cast<double>(half);
        paths.late_most[seed] = std::max(paths.late_most[seed], away);
      }
      Noise noise(key, seed, t);
      const Point pulled = transform(setup, t, now, before);
      const Point added = noise_at(setup, t, noise, now);
      before = now;
      now = {pulled.x + added.x, pulled.y + added.y};
    }
  });
  return paths;
}

/// The step of the proof: G(z) = (|z| - r)_+^2 has G(z + y) <= G(z) + <grad G(z), y> + |y|^2.
void smoothness(const Setup& setup, Findings& findings) {
  constexpr double kRadius = 0.6;
  const auto beyond = [](const Point& z) { return std::max(0.0, std::sqrt(z.norm2()) - kRadius); };
  double most = -1;
  const std::uint64_t count = setup.scaled(100'000, 1'000'000);
  for (std::uint64_t i = 0; i < count; ++i) {
    Noise noise(key_of("T15/G"), i, 0);
    const double scale = std::pow(10, -3 + 4 * noise.uniform());
    const Point z{2 * noise.normal(), 2 * noise.normal()};
    const Point y{scale * noise.normal(), scale * noise.normal()};
    const double grad = 2 * beyond(z) / std::sqrt(z.norm2());
    const double after = std::pow(beyond({z.x + y.x, z.y + y.y}), 2);
    const double more = after - std::pow(beyond(z), 2) - grad * (z.x * y.x + z.y * y.y);
    most = std::max(most, more / y.norm2());
  }
  findings.equal("G(z+y) - G(z) - <grad G(z), y> over |y|^2, most", {most},
                 setup.right(1.0, 0.5, kHalfOfG), 1e-3);
}

lab::plot::Figure picture(const Paths& paths) {
  using Mark = lab::plot::Figure::Mark;
  lab::plot::Figure figure{.title = "The extension of Dvoretzky's theorem, attained",
                           .caption =
                               "Distance from x_* in each doubling of t, over all paths: it comes "
                               "down to the root of a_infinity and stays there, on every path and "
                               "from both sides.",
                           .x = {"t", lab::plot::Figure::Scale::log},
                           .y = {"|x_t - x_*|"},
                           .series = {{"least to most of all seeds", Mark::band, {}, {}},
                                      {"root of a_infinity", Mark::dashed, {}, {}}}};
  for (std::size_t j = 1; j < paths.most.front().size(); ++j) {
    double least = 1e300;
    double most = 0;
    for (const Vector& row : paths.least) least = std::min(least, row[j]);
    for (const Vector& row : paths.most) most = std::max(most, row[j]);
    for (auto& series : figure.series) series.x.push_back(std::ldexp(1.0, static_cast<int>(j) - 1));
    figure.series[0].y.push_back(least);
    figure.series[0].y2.push_back(most);
    figure.series[1].y.push_back(std::sqrt(kLimit));
  }
  return figure;
}

void run(const Setup& setup, Findings& findings) {
  const std::uint64_t steps = setup.scaled(20000, 200000);
  const std::size_t seeds = setup.scaled(256, 1024);
  const Paths paths = walk(setup, steps, seeds);
  const double root = std::sqrt(setup.right(kLimit, kLimit / 2, kHalfOfA));
  // At the end a_t is still above its limit by 2 / sqrt(t) of it.
  constexpr double kNotYet = 0.03;
  const numbers::Estimate late = numbers::mean_of(paths.late);
  findings.equal("mean |x_t - x_*| of the second half over the root of a_infinity",
                 {late.value / root, late.se / root}, 1, kNotYet);
  const numbers::Estimate most = numbers::largest_in_batches(paths.late_most);
  findings.at_most(
      fmt::format("the largest of {} paths, second half, over the root of a_infinity", seeds / 16),
      {most.value / root, most.se / root}, 1, 0.1);
  smoothness(setup, findings);
  findings.figure(picture(paths));
}

const RegisterClaim registered{
    {.id = "T15",
     .name = "Theorem 14",
     .title = "Dvoretzky's theorem extended",
     .statement =
         "If x_{t+1} = T_t + y_t with |T_t - x_*|^2 <= max{a_t, (1 + b_t)|x_t - x_*|^2 - c_t + "
         "h_t}, sum c_t infinite, sum b_t, sum h_t and sum E|y_t|^2 finite and E_t y_t = 0, then "
         "limsup |x_t - x_*|^2 <= lim a_t on almost every path; T_t and c_t may depend on the "
         "whole "
         "past. Run with all of it: in the plane, a_t falling to its limit, b_t and h_t not 0, "
         "c_t, "
         "T_t and the variance of y_t depending on the path, y_t without bound. With the condition "
         "as an equality the bound is attained. The proof stands in docs/theory.md.",
     .errata = {"E10: the proof printed for it is that of the practical theorem; the extension "
                "itself is left to the literature.",
                "E29: h_t is summed from 1, which makes no difference."},
     .mutants = {"no pull: c_t = 0, so that sum c_t is finite",
                 "noise that is not square summable: a constant alpha",
                 "noise with a mean: E_t y_t leads outwards",
                 "h_t = alpha_t, which is not summable", "half of a_infinity",
                 "half of |y|^2 in the step of the proof"},
     .run = run}};

}  // namespace
}  // namespace bcos::lab::theory
