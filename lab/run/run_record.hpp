#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lab/run/metrics.hpp"

namespace bcos::lab::run {

/// What the files of a run say of it; no exit code is asked.
enum class Status {
  planned,      ///< there is no folder, or nothing in it yet
  running,      ///< a process has it
  interrupted,  ///< ended before its last step; the same command goes on with it
  diverged,     ///< too many steps in a row were not finite
  damaged,      ///< cannot be read, or has no whole checkpoint to go on from
  finished,     ///< came to its last step and was evaluated there
};
std::string_view name_of(Status status);

struct State {
  Status status = Status::finished;
  std::uint64_t done = 0;   ///< steps
  std::uint64_t steps = 0;  ///< of the whole run; 0: not known
  bool mixed = false;       ///< parts of it had different numerics
  std::string why;          ///< of a damaged run
};

/// What a run left behind, as its files say it.
struct RunRecord {
  std::string directory;
  std::string name;                                           ///< run.json's, else the directory's
  std::vector<std::pair<std::string, std::string>> settings;  ///< config.toml, in its order
  nlohmann::ordered_json facts;                               ///< run.json
  State state;      ///< finished, unless state_of() has looked
  Metrics metrics;  ///< metrics.jsonl

  /// A setting's text; empty if there is none.
  std::string setting(std::string_view key) const;
};

/// A run that may just have begun: run.json and metrics.jsonl need not be there yet. Throws
/// Error(io) or Error(corrupt), with what could be read in `run`.
void read_unfinished_run(const std::string& directory, RunRecord& run);

/// Reads a run's directory. Throws Error(io) that names what is missing, or Error(corrupt).
RunRecord read_run(const std::string& directory);

}  // namespace bcos::lab::run
