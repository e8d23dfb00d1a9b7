#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bcos/methods.hpp"
#include "lab/theory/claim.hpp"
#include "lab/theory/estimator_moments.hpp"
#include "lab/theory/problems/quadratic.hpp"
#include "lab/theory/simulation.hpp"
#include "lab/theory/stationary.hpp"

namespace bcos::lab::theory {
namespace {

constexpr double kBeta = 0.9;
constexpr double kMean = 0.3;
constexpr std::uint64_t kSettle = 500;

enum Mutant { kNoRootOfRatio = 1, kNoMomentum, kNoRoot, kHalfSignal };

/// Coordinates with E g = 0 and with E g = 0.3, and some others for the picture.
constexpr std::size_t kAlike = 6;
const Vector kOthers = {0.1, 0.2, 0.5, 0.7, 1, 1.5, 2, 3};

Vector means() {
  Vector means(kAlike, 0.0);
  means.insert(means.end(), kAlike, kMean);
  means.insert(means.end(), kOthers.begin(), kOthers.end());
  return means;
}

struct Row {
  std::string id;
  Method method;
  double rms;   ///< as quoted, E g = 0
  double mean;  ///< as quoted, E g = 0.3; 0: none is
};

std::vector<Row> rows() {
  const auto all = estimators(kBeta);
  const auto method = [&](std::string_view id) {
    for (const NamedEstimator& row : all) {
      if (row.id == id) return row.method;
    }
    return Method{};
  };
  return {{"adam", method("adam"), 0.228, 0.287},
          {"conceptual momentum", conceptual_momentum(0, kBeta), 1, 0.785},
          {"bcos_m", method("bcos_m"), 0.968, 0.788},
          {"bcos_c", method("bcos_c"), 0.922, 0.784},
          {"bcos_c_simple", method("bcos_c_simple"), 0.934, 0.788},
          {"bcos_g", method("bcos_g"), 0.957, 0.275},
          {"adams", method("adams"), 0.725, 0},
          {"conceptual", conceptual(0), 1, 0.289}};
}

/// d / sqrt(v) at a fixed x in the long run.
struct Stationary {
  numbers::Estimate rms;   ///< at E g = 0
  numbers::Estimate mean;  ///< at E g = 0.3
  Vector others;           ///< means at kOthers
};

Stationary stationary(const Setup& setup, const Row& row) {
  setup.stage(row.id);
  const Quadratic problem = unit_noise(means());
  const std::uint64_t kept = setup.scaled(1'000, 10'000);
  const Simulation simulation{.problem = problem,
                              .method = row.method,
                              .steps = kSettle + kept,
                              .replicates = setup.scaled(128, 512),
                              .key = key_of("T19"),
                              .x0 = Vector(problem.size(), 0.0),
                              .frozen = true};
  const std::size_t n = problem.size();
  Vector squares(simulation.replicates, 0.0);
  Vector sums(simulation.replicates * n, 0.0);
  simulate(simulation, [&](const Moment& now) {
    if (now.t <= kSettle) return;
    for (std::size_t i = 0; i < now.count; ++i) {
      const ConstSpan step = now.update(i);
      squares[now.first + i] += squared_norm(step.first(kAlike));
      for (std::size_t k = 0; k < n; ++k) sums[(now.first + i) * n + k] += step[k];
    }
  });
  const double count = static_cast<double>(kept);
  Vector means_of(simulation.replicates, 0.0);
  Stationary found;
  found.others.assign(kOthers.size(), 0.0);
  for (std::size_t i = 0; i < simulation.replicates; ++i) {
    squares[i] /= count * kAlike;
    for (std::size_t k = 0; k < kAlike; ++k) {
      means_of[i] += sums[i * n + kAlike + k] / (count * kAlike);
    }
    for (std::size_t k = 0; k < kOthers.size(); ++k) {
      found.others[k] +=
          sums[i * n + 2 * kAlike + k] / (count * static_cast<double>(simulation.replicates));
    }
  }
  const numbers::Estimate square = numbers::mean_of(squares);
  found.rms = {std::sqrt(square.value), square.se / (2 * std::sqrt(square.value))};
  found.mean = numbers::mean_of(means_of);
  return found;
}

/// Every row: simulated = computed.
void table(const Setup& setup, const std::vector<Row>& all, const std::vector<Stationary>& found,
           Findings& findings) {
  double from_quoted = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const Row& row = all[k];
    const double square = stationary_step(row.method, 0).square;
    const double rms = setup.right(std::sqrt(square), square, kNoRoot);
    Method of_mean = row.method;
    if (of_mean.estimator == Estimator::oracle) {
      of_mean.direction = setup.right(of_mean.direction, Direction::gradient, kNoMomentum);
    }
    const double mean = stationary_step(of_mean, setup.right(kMean, kMean / 2, kHalfSignal)).mean;
    // The conceptual step has E d^2 / E d^2 = 1.
    if (row.method.estimator != Estimator::oracle) {
      findings.equal(row.id + ", E g = 0: RMS of d/sqrt(v)", found[k].rms, rms);
    }
    findings.equal(row.id + ", E g = 0.3: mean of d/sqrt(v)", found[k].mean, mean);
    findings.number(row.id + ": RMS at E g = 0", {rms});
    findings.number(row.id + ": mean at E g = 0.3", {mean});
    from_quoted = std::max(from_quoted, std::abs(rms - row.rms));
    if (row.mean > 0) from_quoted = std::max(from_quoted, std::abs(mean - row.mean));
  }
  // The quoted table was simulated, and its third digit is off by up to 3.
  Findings::as_quoted(findings.at_most("largest difference of the computed from the quoted table",
                                       {from_quoted}, 0.003));
}

/// In noise Adam's steps are shorter by sqrt((1-beta)/(1+beta)).
void against_adam(const Setup& setup, const std::vector<Row>& all,
                  const std::vector<Stationary>& found, Findings& findings) {
  const double theory = std::sqrt((1 - kBeta) / (1 + kBeta));
  const double ratio = setup.right(1 / theory, 1 / (theory * theory), kNoRootOfRatio);
  const numbers::Estimate adam = found[0].rms;
  for (std::size_t k = 1; k <= 3; ++k) {
    const numbers::Estimate rms = found[k].rms;
    const double value = rms.value / adam.value;
    const double se = value * std::hypot(rms.se / rms.value, adam.se / adam.value);
    // Adam's v is not quite steady; the practical methods make steps of .970 and .923, not 1.
    const double model = k == 1 ? 0.01 : 0.1;
    findings.equal(fmt::format("noise alone: steps of {} over Adam's", all[k].id), {value, se},
                   ratio, model * ratio);
    findings.number(all[k].id + ": RMS over Adam's", {value, se});
  }
  findings.equal("adam, E g = 0: RMS is about sqrt((1-beta)/(1+beta))", adam, 1 / ratio,
                 0.01 * theory);
}

void picture(const std::vector<Row>& all, const std::vector<Stationary>& found,
             Findings& findings) {
  lab::plot::Figure figure{.title = "Mean step at a fixed point",
                           .caption =
                               "E[d/sqrt(v)] in the long run over E g / sd(g). Methods that "
                               "divide the momentum by its own second moment follow weak "
                               "signals several times more than Adam and BCOS-g, which divide "
                               "by that of g.",
                           .x = {"E g / sd(g)"},
                           .y = {"mean of d/sqrt(v)"},
                           .series = {}};
  for (std::size_t k = 0; k < all.size(); ++k) {
    const bool dashed = all[k].method.estimator == Estimator::oracle;
    lab::plot::Figure::Series series{
        all[k].id,
        dashed ? lab::plot::Figure::Mark::dashed : lab::plot::Figure::Mark::line,
        {0},
        {0}};
    for (std::size_t j = 0; j < kOthers.size(); ++j) {
      if (kOthers[j] > kMean && series.x.back() < kMean) {
        series.x.push_back(kMean);
        series.y.push_back(found[k].mean.value);
      }
      series.x.push_back(kOthers[j]);
      series.y.push_back(found[k].others[j]);
    }
    figure.series.push_back(std::move(series));
  }
  findings.figure(std::move(figure));
}

void run(const Setup& setup, Findings& findings) {
  const std::vector<Row> all = rows();
  std::vector<Stationary> found;
  found.reserve(all.size());
  for (const Row& row : all) found.push_back(stationary(setup, row));
  against_adam(setup, all, found, findings);
  table(setup, all, found, findings);
  picture(all, found, findings);
}

const RegisterClaim registered{
    {.id = "T19",
     .name = "beyond the paper",
     .title = "stationary steps",
     .statement = "At a fixed x with unit noise, d/sqrt(v) settles at the tabulated means and root "
                  "mean squares; where noise dominates Adam moves sqrt((1+beta)/(1-beta)) = 4.36 "
                  "times less per step than methods that estimate E m^2.",
     .mutants = {"(1+beta)/(1-beta) without the root",
                 "the conceptual mean without momentum for the one with it",
                 "the mean square in the place of its root", "half of the signal"},
     .run = run}};

}  // namespace
}  // namespace bcos::lab::theory
