#pragma once

#include <span>
#include <string>
#include <vector>

#include "lab/run/run_record.hpp"

namespace bcos::lab::report {

/// Which runs belong together: those that differ in the seed alone are a group, groups that differ
/// in the learning rate alone (and in lambda where alpha x lambda is the same) are a series.
struct Identity {
  std::string series;
  std::string group;  ///< within the series
  std::string label;  ///< the method, and what tells its series from the others
  double decay_rate = run::kNoNumber;
};

/// One for each run. What a run does not say of itself it shares with no other.
std::vector<Identity> identities_of(std::span<const run::RunRecord> runs);

}  // namespace bcos::lab::report
