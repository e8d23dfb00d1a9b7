#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/theory/aimed.hpp"
#include "lab/theory/claim.hpp"
#include "lab/theory/parallel.hpp"
#include "lab/theory/problems/examples.hpp"

namespace bcos::lab::theory {
namespace {

/// E|x - gamma d - x_*|^2 - |x - x_*|^2 of one block, from its moments.
double change(double gamma, double aim, double second) {
  return -2 * gamma * aim + gamma * gamma * second;
}

enum Mutant { kMeanSquared = 1, kOnlyPositive, kRho };

/// A block of a problem at a point.
struct Place {
  const Problem& problem;
  Vector x;
  Vector target;
  std::size_t block;
  double aim;     ///< <x_k - x_*k, E d_k>
  double mean2;   ///< |E d_k|^2
  double second;  ///< E|d_k|^2

  double gammahat(const Setup& setup) const {
    return setup.right(aim, std::abs(aim), kOnlyPositive) /
           setup.right(second, mean2, kMeanSquared);
  }
  /// By how much gammahat shortens the squared distance.
  double decrease() const { return aim * aim / second; }
};

/// Where a problem starts, and one point beside it, in all blocks that have a direction.
std::vector<Place> places_of(const Problem& problem, const Vector& target, std::uint64_t key) {
  const std::size_t size = problem.block_size();
  std::vector<Place> places;
  for (std::uint64_t i = 0; i < 2; ++i) {
    Noise noise(key, i, 1);
    Vector x = problem.start();
    for (double& value : x) value += static_cast<double>(i) * noise.normal();
    Vector mean(problem.size());
    Vector second(problem.blocks());
    known_moments(problem, x, mean, second);
    const Vector e = minus(x, target);
    for (std::size_t k = 0; k < problem.blocks(); ++k) {
      const ConstSpan mean_k = ConstSpan(mean).subspan(k * size, size);
      const double aim = dot(ConstSpan(e).subspan(k * size, size), mean_k);
      if (aim != 0) places.push_back({problem, x, target, k, aim, squared_norm(mean_k), second[k]});
    }
  }
  return places;
}

/// What gammahat gains, and what half as long a stepsize again loses of it, on the same samples:
/// both over the decrease that is claimed.
struct Seen {
  numbers::Estimate gained;
  numbers::Estimate lost;
};

Seen sample(const Setup& setup, const Place& place, std::uint64_t samples, std::uint64_t key) {
  const std::size_t size = place.problem.block_size();
  const double gamma = place.gammahat(setup);
  numbers::Moments gained(1);
  numbers::Moments lost(0.25);
  const Vector e = minus(place.x, place.target);
  const ConstSpan e_k = ConstSpan(e).subspan(place.block * size, size);
  Vector d(place.problem.size());
  for (std::uint64_t i = 0; i < samples; ++i) {
    Noise noise(key, i, 0);
    place.problem.sample(place.x, noise, d);
    const ConstSpan d_k = ConstSpan(d).subspan(place.block * size, size);
    const auto of = [&](double g) {
      return change(g, dot(e_k, d_k), squared_norm(d_k)) / place.decrease();
    };
    gained.add(-of(gamma));
    lost.add(of(1.5 * gamma) - of(gamma));
  }
  return {gained.mean(), lost.mean()};
}

/// The place that is furthest from the prediction, as the worst of all.
void check_worst(const std::string& what, const std::vector<Seen>& all,
                 numbers::Estimate Seen::* part, double predicted, Findings& findings) {
  const Seen worst = std::ranges::max(all, {}, [&](const Seen& seen) {
    return std::abs((seen.*part).value - predicted) / ((seen.*part).se + 1e-12);
  });
  findings.equal(what, worst.*part, predicted).among = all.size();
}

void on_problem(const Setup& setup, const std::string& id, const Problem& problem,
                const Vector& target, Findings& findings) {
  setup.stage(id);
  const auto places = places_of(problem, target, key_of("T1/" + id));
  if (places.empty()) return;  // pure noise has no best stepsize but 0
  std::vector<Seen> all(places.size(), Seen{});
  const std::uint64_t samples = setup.scaled(20'000, 400'000);
  parallel_for(places.size(), [&](std::size_t i) {
    all[i] = sample(setup, places[i], samples, key_of(fmt::format("T1/{}/{}", id, i)));
  });
  check_worst(fmt::format("{}: what gammahat gains over <e,Ed>^2 / E|d|^2, sampled", id), all,
              &Seen::gained, 1, findings);
  check_worst(fmt::format("{}: what 1.5 gammahat loses of it, sampled", id), all, &Seen::lost, 0.25,
              findings);
  double simplified = 0;
  for (const Place& place : places) {
    const double rho = place.mean2 / place.second;
    const double one = std::sqrt(place.mean2) / place.second;
    const double other = setup.right(std::sqrt(rho), rho, kRho) / std::sqrt(place.second);
    simplified = std::max(simplified, std::abs(one - other) / one);
  }
  if (id == "P1") {
    findings.equal("P1: |Ed| / E|d|^2 = sqrt(rho) / sqrt(E|d|^2)", {simplified}, 0);
  }
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
    const double gammahat = aim / setup.right(second[k], mean[k] * mean[k], kMeanSquared);
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
  for (const Aimed& c : aimed_without_decay()) {
    on_problem(setup, c.id, *c.problem, c.target, findings);
  }
  // Coordinates that aim away from 0: their best stepsize is negative.
  const SkewedQuadratic skewed;
  on_problem(setup, "P5", skewed, {0, 0}, findings);
  draw(setup, findings);
}

const RegisterClaim registered{
    {.id = "T1",
     .name = "Section 2.1",
     .title = "optimal stepsizes",
     .statement =
         "gamma_k = <x_k - x_*k, E d_k> / E|d_k|^2 minimises the expected distance after "
         "one step, which falls by the sum of <x_k - x_*k, E d_k>^2 / E|d_k|^2; replacing "
         "the distance by alpha gives alpha sqrt(rho_k) / sqrt(E|d_k|^2). It is negative where "
         "the coordinate aims away (P5, P7).",
     .mutants = {"|E d|^2 in the place of E|d|^2", "gammahat never negative",
                 "rho in the place of sqrt(rho)"},
     .run = run}};

}  // namespace
}  // namespace bcos::lab::theory
