#pragma once

#include <vector>

#include "lab/theory/simulation.hpp"

/// What a single replicate does in the windows [2^j, 2^{j+1}) of its steps.
namespace bcos::lab::theory {

struct Windows {
  std::size_t first = 0;                  ///< j of the first window
  std::vector<Vector> most = {};          ///< by replicate: max |x_t - x_*|^2 in each window
  std::vector<Vector> weighted_sum = {};  ///< by replicate: sum alpha_t |x_t - x_*|^2 in each

  std::size_t count() const { return most.empty() ? 0 : most.front().size(); }
};

/// Windows j = first, ..., last - 1; the simulation makes 2^last steps, whatever it says.
Windows watch_windows(Simulation simulation, ConstSpan target, std::size_t first, std::size_t last);

/// By replicate: the slope of log2 of its windows against j, fitted by least squares.
Vector window_slopes(const std::vector<Vector>& windows);

}  // namespace bcos::lab::theory
