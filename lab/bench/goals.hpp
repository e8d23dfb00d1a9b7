#pragma once

#include <functional>
#include <string>
#include <vector>

namespace bcos::lab {

/// A speed worth keeping: a ratio of two times measured in turn, and what it should not exceed.
struct Goal {
  std::string what;
  double to_reach;
  std::function<double(int pairs)> measure;
};

std::vector<Goal> speed_goals();

/// The median of a goal over some processes, each with memory of its own. Throws Error if one of
/// them dies.
double measured_in_processes(const Goal& goal, int processes, int pairs);

}  // namespace bcos::lab
