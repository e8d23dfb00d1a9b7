#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/run/settings.hpp"
#include "lab/run/status.hpp"

namespace bcos::lab::cells {

struct RunnerOptions {
  std::uint64_t jobs = 1;
  bool quiet = false;
  /// Called now and then while cells run, and after the last one.
  std::function<void()> look = [] {};
};

struct Ran {
  /// Names of cells that did not come to their end, with what their files say.
  std::vector<std::pair<std::string, run::State>> unfinished;
  int signal = 0;  ///< that ended all of it, after saving
};

/// Asked for the cells again whenever some have ended: a grid may grow.
using Plan = std::function<std::vector<run::Settings>()>;

/// Runs each cell in a process of its own, so many at a time: one that fails does not take the
/// others along, and all end with this process. Cells that are finished are not run again; a cell
/// is started once, whatever becomes of it. Throws UsageError, before anything starts, if a cell's
/// folder holds a run with other settings.
Ran run_cells(const Plan& plan, const RunnerOptions& options);

}  // namespace bcos::lab::cells
