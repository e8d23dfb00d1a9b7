#include "lab/theory/windows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace bcos::lab::theory {

Windows watch_windows(Simulation simulation, ConstSpan target, std::size_t first,
                      std::size_t last) {
  simulation.steps = std::uint64_t{1} << last;
  Windows windows{.first = first};
  windows.most.assign(simulation.replicates, Vector(last - first, 0.0));
  windows.weighted_sum = windows.most;
  simulate(simulation, [&](const Moment& now) {
    if (now.t >> first == 0 || now.t == simulation.steps) return;
    const std::size_t j = static_cast<std::size_t>(std::bit_width(now.t)) - 1 - first;
    const double alpha = simulation.stepsizes.at(now.t);
    for (std::size_t i = 0; i < now.count; ++i) {
      const double distance = squared_distance(now.x(i), target);
      double& most = windows.most[now.first + i][j];
      most = std::max(most, distance);
      windows.weighted_sum[now.first + i][j] += alpha * distance;
    }
  });
  return windows;
}

Vector window_slopes(const std::vector<Vector>& windows) {
  Vector slopes;
  slopes.reserve(windows.size());
  for (const Vector& row : windows) {
    Vector j(row.size());
    Vector logs(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      j[i] = static_cast<double>(i);
      logs[i] = std::log2(row[i]);
    }
    slopes.push_back(numbers::slope_of(j, logs));
  }
  return slopes;
}

}  // namespace bcos::lab::theory
