#include <algorithm>
#include <cmath>
#include <numeric>

#include "lab/theory/claims/t18_aiming.hpp"
#include "lab/theory/formulas.hpp"
#include "lab/theory/simulation.hpp"

namespace bcos::lab::theory::t18 {
namespace {

/// Bins of distance, each a factor of sqrt(10) wide, the first from 0.001.
constexpr std::size_t kBins = 8;

std::size_t bin_of(double away) {
  const double place = std::floor(2 * std::log10(away) + 6);
  return static_cast<std::size_t>(std::clamp(place, 0.0, kBins - 1.0));
}
double middle_of(std::size_t bin) { return std::pow(10, (static_cast<double>(bin) - 5.5) / 2); }

struct Counts {
  std::vector<std::uint64_t> looks;     ///< kBins a replicate
  std::vector<std::uint64_t> negative;  ///< the same: margins below 0
  Vector late;                          ///< their share in the second half, one a replicate

  explicit Counts(std::size_t replicates)
      : looks(replicates * kBins), negative(replicates * kBins), late(replicates) {}
};

/// Margins along runs, each direction's about its own target.
Counts count(const Case& c, const Method& method, std::uint64_t steps, std::uint64_t replicates) {
  constexpr std::uint64_t kEvery = 4;
  Counts counts(replicates);
  const bool momentum = method.direction == Direction::momentum;
  const Vector& target = momentum ? c.momentum : c.setup.right(c.target, c.momentum, kOtherTarget);
  const std::uint64_t late_looks = steps / kEvery - steps / 2 / kEvery;
  const Simulation simulation{.problem = c.problem,
                              .method = method,
                              .stepsizes = {1, 0.75},
                              .steps = steps,
                              .replicates = replicates,
                              .key = key_of("T18/runs")};
  simulate(simulation, [&](const Moment& now) {
    if (now.t == 0 || now.t % kEvery != 0) return;
    for (std::size_t i = 0; i < now.count; ++i) {
      const double margin = momentum ? c.margin(now.x(i), now.m(i))
                                     : aiming_margin(c.problem, now.x(i), kLambda, target);
      const double away = std::sqrt(squared_distance(now.x(i), target));
      const std::size_t replicate = now.first + i;
      const std::size_t place = replicate * kBins + bin_of(away);
      ++counts.looks[place];
      if (margin >= 0) continue;
      ++counts.negative[place];
      if (now.t > steps / 2) counts.late[replicate] += 1 / static_cast<double>(late_looks);
    }
  });
  return counts;
}

lab::plot::Figure::Series by_distance(const Counts& counts) {
  constexpr std::uint64_t kFew = 100;
  lab::plot::Figure::Series series{
      .label = "along runs", .mark = lab::plot::Figure::Mark::points, .x = {}, .y = {}};
  for (std::size_t bin = 0; bin < kBins; ++bin) {
    std::uint64_t looks = 0;
    std::uint64_t negative = 0;
    for (std::size_t i = bin; i < counts.looks.size(); i += kBins) {
      looks += counts.looks[i];
      negative += counts.negative[i];
    }
    if (looks < kFew) continue;
    series.x.push_back(middle_of(bin));
    series.y.push_back(static_cast<double>(negative) / static_cast<double>(looks));
  }
  return series;
}

}  // namespace

void check_along_runs(const Case& c, lab::plot::Figure& figure, Findings& findings) {
  const std::uint64_t steps = c.setup.scaled(8000, 100000);
  const std::uint64_t replicates = c.setup.scaled(128, 400);
  c.setup.stage("runs");
  const Counts momentum = count(c, conceptual_momentum(kLambda, kBeta), steps, replicates);
  const numbers::Estimate late = numbers::mean_of(momentum.late);
  findings.at_least("runs with momentum: share that do not aim, second half", late, 0.4);
  Findings::as_printed(findings.equal("Assumption 1 with momentum: every step aims", late, 0),
                       false);
  findings.number("share along runs, second half", late);
  const Counts gradient = count(c, conceptual(kLambda), steps, replicates);
  const auto missed =
      std::accumulate(gradient.negative.begin(), gradient.negative.end(), std::uint64_t{0});
  findings.equal("runs with the gradient: steps that do not aim", {static_cast<double>(missed)}, 0);
  figure.series.push_back(by_distance(momentum));
}

}  // namespace bcos::lab::theory::t18
