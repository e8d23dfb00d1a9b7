#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lab/theory/simulation.hpp"

/// How near a practical method comes to what it aims at: where its runs end, how far its expected
/// steps are from those of the conceptual method, and what the theory makes of that difference.
namespace bcos::lab::theory {

/// The conceptual method that a practical one stands for has momentum as its direction. Adam's has
/// not: its v follows E|g|^2, so its steps are those of gradients on average.
bool stands_for_momentum(const Method& method);

/// The second half of all runs of a simulation.
struct Tail {
  Vector points = {};       ///< mean of x over time, a row a replicate
  Vector squares = {};      ///< mean of |x|^2, one a replicate
  Vector differences = {};  ///< mean of d / sqrt(v+eps) less the conceptual step, a row a replicate

  /// Some moments of it, at which expectations can be taken.
  struct State {
    Vector x = {};
    States states = {};
    double alpha = 0;  ///< of the next step
  };
  std::vector<State> states = {};

  std::vector<std::uint64_t> times = {};  ///< sparse ones of the whole run
  std::vector<Vector> path = {};          ///< the mean over the replicates of x at these
};
/// The moments of the problem must be known.
Tail tail_of(const Simulation& simulation, std::size_t states);

/// The mean of rows of n numbers.
std::vector<numbers::Estimate> mean_of_rows(ConstSpan rows, std::size_t n);
/// A point that was computed, as one that was sampled.
std::vector<numbers::Estimate> computed_point(ConstSpan point);
/// |a - b|, with the standard error of the whole vector.
numbers::Estimate distance(const std::vector<numbers::Estimate>& a,
                           const std::vector<numbers::Estimate>& b);
numbers::Estimate distance(const std::vector<numbers::Estimate>& a, ConstSpan b);
/// The root of the mean of |x - point|^2 over the tail.
numbers::Estimate rms_distance(const Tail& tail, ConstSpan point);

/// err_t = E_t[d / sqrt(v+eps)] - phi_t at the states of a tail, each by so many fresh samples.
struct StepDifference {
  double largest = 0;                ///< |err_{t,k}|, over all states and blocks
  double largest_norm = 0;           ///< |err_t|, over all states
  numbers::Estimate mean_norm = {};  ///< its mean over the states
  double sampling_error = 0;         ///< the largest standard error of a number of err_t
};
StepDifference step_difference(const Problem& problem, const Method& method, const Tail& tail,
                               std::uint64_t samples, std::uint64_t key);

/// err_t at one state: copies of it take a step each, through the engine.
std::vector<numbers::Estimate> step_difference_at(const Problem& problem, const Method& method,
                                                  const Tail::State& state, std::uint64_t samples,
                                                  std::uint64_t key);

/// Bounds on limsup |x_t - x_*|.
struct Radii {
  double paper = 0;                    ///< 2 sqrt(m) limsup_t max_k |err_{t,k}| / lambda, m blocks
  double sharper = 0;                  ///< limsup_t |err_t| / lambda
  std::optional<double> trivial = {};  ///< sqrt(m) C / lambda + |x_*|, if C is finite
};
Radii radii_of(double largest, double largest_norm, const Problem& problem, const Method& method,
               double lambda, ConstSpan target);

/// Where the conceptual method that this one stands for goes: computed, or simulated (se > 0).
/// Nothing if the problem has no target.
std::optional<std::vector<numbers::Estimate>> aim_of(const Simulation& simulation);

}  // namespace bcos::lab::theory
