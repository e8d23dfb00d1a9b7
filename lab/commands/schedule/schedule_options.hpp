#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "bcos/schedule.hpp"

namespace bcos::lab::commands {

/// A schedule on the command line: --json first, then an option a field.
struct ScheduleOptions {
  std::string json;              ///< text, or @FILE
  nlohmann::ordered_json given;  ///< the fields given as options, by their names in files
};

void add_schedule_options(CLI::App& app, ScheduleOptions& options);

/// Throws UsageError that names the option.
Schedule schedule_of(const ScheduleOptions& options);

}  // namespace bcos::lab::commands
