#pragma once

#include <string>

#include "lab/run/events.hpp"
#include "lab/run/observers.hpp"
#include "lab/run/settings.hpp"

namespace bcos::lab::commands {

struct RunOptions {
  bool resume = false;  ///< refuse to begin a new run
  bool fresh = false;   ///< begin again; what is there is put aside
  run::Voice voice = run::Voice::lines;
};

struct RunResult {
  run::Outcome outcome = run::Outcome::finished;
  std::string directory;
  int signal = 0;        ///< that interrupted it
  bool did_work = true;  ///< false: the run was finished before
};

/// One run in its directory, from the beginning or from its latest checkpoint. Throws UsageError if
/// the directory holds a run with other settings.
RunResult run_training(const run::Settings& settings, const RunOptions& options);

}  // namespace bcos::lab::commands
