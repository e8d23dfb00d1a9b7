#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lab/run/metrics.hpp"

namespace bcos::lab::run {

/// What a run left behind, as its files say it.
struct RunRecord {
  std::string directory;
  std::string name;                                           ///< run.json's, else the directory's
  std::vector<std::pair<std::string, std::string>> settings;  ///< config.toml, in its order
  nlohmann::ordered_json facts;                               ///< run.json
  Metrics metrics;                                            ///< metrics.jsonl

  /// A setting's text; empty if there is none.
  std::string setting(std::string_view key) const;
};

/// Reads a run's directory. Throws Error(io) that names what is missing, or Error(corrupt).
RunRecord read_run(const std::string& directory);

}  // namespace bcos::lab::run
