#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bcos::lab::bench {

/// The ratio of two times measured in turn.
struct Figure {
  double ratio = 0;
  double unrest = 1;  ///< the upper over the lower quartile of times that should be equal
};

/// A speed worth keeping, and what it should not exceed.
struct Goal {
  std::string what;
  double to_reach;
  std::function<Figure(int pairs)> measure;
};

/// With more unrest other work has been in the way, on this machine or beside it.
inline constexpr double kQuiet = 1.1;

std::vector<Goal> speed_goals();

/// The medians of a goal over some processes, each with memory of its own. Throws Error if one of
/// them dies.
Figure measured_in_processes(const Goal& goal, int processes, int pairs);

}  // namespace bcos::lab::bench
