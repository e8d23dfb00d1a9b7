#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/theory/aimed.hpp"
#include "lab/theory/claim.hpp"
#include "lab/theory/problem.hpp"

namespace bcos::lab::theory {
namespace {

/// E|x - gamma d - x_*|^2 - |x - x_*|^2 of one block, from its moments.
double change(double gamma, double aim, double second) {
  return -2 * gamma * aim + gamma * gamma * second;
}

/// The points to look at: where the problem starts, and others near and far from it.
std::vector<Vector> points_of(const Problem& problem, std::uint64_t key, std::size_t count) {
  std::vector<Vector> points = {problem.start()};
  for (std::size_t i = 1; i < count; ++i) {
    Noise noise(key, i, 0);
    Vector x = problem.start();
    const double scale = std::pow(10, -2 + 3 * noise.uniform());
    for (double& value : x) value += scale * noise.normal();
    points.push_back(std::move(x));
  }
  return points;
}

/// The worst over all points and blocks, of one problem.
struct Worst {
  std::size_t looks = 0;
  double decrease = 0;    ///< relative difference of the decrease and its formula
  double beaten = 0;      ///< by how much a stepsize next to gammahat is better, relatively
  double simplified = 0;  ///< relative difference of the two simplified stepsizes
};

void look(Worst& worst, double aim, double mean2, double second, const Setup& setup) {
  ++worst.looks;
  const double gammahat = aim / setup.right(second, mean2);
  const double best = change(gammahat, aim, second);
  const double formula = -aim * aim / second;
  worst.decrease = std::max(worst.decrease, std::abs(best - formula) / std::abs(formula));
  for (const double factor : {1 - 1e-3, 1 + 1e-3}) {
    const double beaten = (best - change(gammahat * factor, aim, second)) / std::abs(formula);
    worst.beaten = std::max(worst.beaten, beaten);
  }
  const double sif = mean2 / second;
  const double one = std::sqrt(mean2) / second;
  const double other = std::sqrt(sif) / std::sqrt(second);
  worst.simplified = std::max(worst.simplified, std::abs(one - other) / one);
}

/// The parabola of every coordinate of P1 at its start, with the stepsize that is claimed best.
void draw(const Setup& setup, Findings& findings) {
  const auto problem = problem_by_id("P1").make();
  const Vector x = problem->start();
  const Vector e = minus(x, *problem->target(0));
  Vector mean(problem->size());
  Vector second(problem->size());
  problem->moments(x, mean, second);
  lab::plot::Figure figure{.title = "Change of the expected squared distance after one step (P1)",
                           .caption =
                               "Each coordinate has a stepsize of its own that brings it nearest "
                               "to its target; the point is gammahat, at the bottom of its "
                               "parabola. Twice that stepsize gains nothing.",
                           .x = {.label = "stepsize gamma"},
                           .y = {.label = "E|x_k - gamma d_k - x_*k|^2 - |x_k - x_*k|^2"},
                           .series = {}};
  lab::plot::Figure::Series best{
      .label = "gammahat", .mark = lab::plot::Figure::Mark::points, .x = {}, .y = {}};
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double aim = e[k] * mean[k];
    const double gammahat = aim / setup.right(second[k], mean[k] * mean[k]);
    best.x.push_back(gammahat);
    best.y.push_back(change(gammahat, aim, second[k]));
    lab::plot::Figure::Series parabola{.label = fmt::format("coordinate {}", k), .x = {}, .y = {}};
    constexpr int kPoints = 60;
    for (int i = 0; i <= kPoints; ++i) {
      const double gamma = 2.2 * gammahat * i / kPoints;
      parabola.x.push_back(gamma);
      parabola.y.push_back(change(gamma, aim, second[k]));
    }
    figure.series.push_back(std::move(parabola));
  }
  figure.series.push_back(std::move(best));
  findings.figure(std::move(figure));
}

void run(const Setup& setup, Findings& findings) {
  const std::size_t count = setup.scaled(200, 1000);
  for (const Aimed& c : aimed_without_decay()) {
    const Problem& problem = *c.problem;
    const std::size_t size = problem.block_size();
    Worst worst;
    for (const Vector& x : points_of(problem, key_of("T1/" + c.id), count)) {
      Vector mean(problem.size());
      Vector second(problem.blocks());
      known_moments(problem, x, mean, second);
      const Vector e = minus(x, c.target);
      for (std::size_t k = 0; k < problem.blocks(); ++k) {
        const ConstSpan mean_k = ConstSpan(mean).subspan(k * size, size);
        const double aim = dot(ConstSpan(e).subspan(k * size, size), mean_k);
        if (aim != 0) look(worst, aim, squared_norm(mean_k), second[k], setup);
      }
    }
    if (worst.looks == 0) continue;  // pure noise has no best stepsize but 0
    findings.equal(fmt::format("{}: decrease = <e,Ed>^2 / E|d|^2, worst relative error", c.id),
                   {worst.decrease}, 0);
    findings.at_most(fmt::format("{}: no stepsize 0.1 % away is better", c.id), {worst.beaten}, 0);
    findings.equal(fmt::format("{}: |Ed| / E|d|^2 = sqrt(rho) / sqrt(E|d|^2)", c.id),
                   {worst.simplified}, 0);
  }
  draw(setup, findings);
}

const RegisterClaim registered{
    {.id = "T1",
     .name = "Section 2.1",
     .title = "optimal stepsizes",
     .statement = "gamma_k = <x_k - x_*k, E d_k> / E|d_k|^2 minimises the expected distance after "
                  "one step, which falls by the sum of <x_k - x_*k, E d_k>^2 / E|d_k|^2; replacing "
                  "the distance by alpha gives alpha sqrt(rho_k) / sqrt(E|d_k|^2).",
     .mutants = {"|E d|^2 in the place of E|d|^2"},
     .run = run}};

}  // namespace
}  // namespace bcos::lab::theory
