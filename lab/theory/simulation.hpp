#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bcos/method.hpp"
#include "lab/numbers/statistics.hpp"
#include "lab/theory/problem.hpp"
#include "lab/theory/states.hpp"

/// Replicates of a method on a problem, every step of it the engine's `update` in float64.
namespace bcos::lab::theory {

/// The conceptual method: the estimator is the oracle E_t|d_k|^2, eps = 0. lambda = 0: no decay.
Method conceptual(double lambda);
/// The same with momentum as its direction; m starts at 0.
Method conceptual_momentum(double lambda, double beta);

/// alpha_t = alpha / (t+1)^p; p = 0 is a constant stepsize.
struct Stepsizes {
  double alpha = 1;
  double p = 0;
  double at(std::uint64_t t) const;
};

struct Simulation {
  const Problem& problem;
  Method method;  ///< its blocks are those of the problem
  Stepsizes stepsizes = {};
  std::uint64_t steps = 1;
  std::uint64_t replicates = 1;
  std::uint64_t key = 0;
  Vector x0 = {};                     ///< empty: where the problem starts
  bool frozen = false;                ///< x stays at x0; states and directions move on
  std::uint64_t first_replicate = 0;  ///< replicates are first, first + 1, ...
  States states = {.taken = 0};       ///< those of every replicate at x0
};

/// Some replicates after t steps. d, v and update are those of the step just made (t >= 1), m is
/// the state; each is empty where the method has none.
struct Moment {
  std::uint64_t t = 0;
  std::size_t first = 0;  ///< place of the first of these replicates among all of the simulation
  std::size_t count = 0;
  ConstSpan all_x, all_g, all_d, all_v, all_update, all_m;

  ConstSpan x(std::size_t i) const { return part(all_x, i); }
  ConstSpan g(std::size_t i) const { return part(all_g, i); }  ///< the sample
  ConstSpan d(std::size_t i) const { return part(all_d, i); }
  ConstSpan v(std::size_t i) const { return part(all_v, i); }  ///< one a block
  ConstSpan update(std::size_t i) const { return part(all_update, i); }
  ConstSpan m(std::size_t i) const { return part(all_m, i); }

 private:
  ConstSpan part(ConstSpan all, std::size_t i) const {
    const std::size_t n = all.size() / count;
    return all.subspan(i * n, n);
  }
};

/// Is told of every group of replicates at t = 0 and after every step; from several threads, each
/// with replicates of its own, so it writes only into places of those replicates.
using Watch = std::function<void(const Moment&)>;

/// Runs all replicates, on all threads. The numbers do not depend on how many there are.
void simulate(const Simulation& simulation, const Watch& watch);

/// The mean over the replicates of f(x_t), for every t of `times` (increasing).
std::vector<numbers::Estimate> means_at(const Simulation& simulation,
                                        std::span<const std::uint64_t> times,
                                        const std::function<double(ConstSpan x)>& f);

/// The final points of all replicates, one after another.
Vector final_points(const Simulation& simulation);

/// 0, 1, 2, 5, 10, 20, 50, ... and `last`.
std::vector<std::uint64_t> sparse_times(std::uint64_t last);

}  // namespace bcos::lab::theory
