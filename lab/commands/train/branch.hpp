#pragma once

#include <string>

#include "lab/run/settings.hpp"

namespace bcos::lab::commands {

/// Gives the run of these settings a checkpoint of another run to begin from, and that run's
/// metrics below it. `from` is "RUN" (its latest checkpoint) or "RUN@STEP". A run that has begun
/// is left as it is. Throws UsageError if the folder holds something else or `from` is no run,
/// Error if the checkpoint is missing, damaged or of another model.
void branch_from(const std::string& from, const run::Settings& settings);

}  // namespace bcos::lab::commands
