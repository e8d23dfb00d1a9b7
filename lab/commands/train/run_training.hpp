#pragma once

#include <string>

#include "lab/run/events.hpp"
#include "lab/run/observers.hpp"
#include "lab/run/settings.hpp"

namespace bcos::lab::commands {

/// The file that marks a folder of runs which --fresh has put aside; nobody counts it.
inline constexpr const char* kPutAside = "put-aside";

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

/// The name of a run: as given, or made of what tells it from others.
std::string name_of(const run::Settings& settings);

std::string directory_of(const run::Settings& settings);

/// Whether there is a run of these settings' name that has come as far as its first step.
bool has_begun(const run::Settings& settings);

/// Whether it has come to its end. Throws UsageError if it has other settings.
bool is_finished(const run::Settings& settings);

/// One run in its directory, from the beginning or from its latest checkpoint. Throws UsageError if
/// the directory holds a run with other settings.
RunResult run_training(const run::Settings& settings, const RunOptions& options);

}  // namespace bcos::lab::commands
