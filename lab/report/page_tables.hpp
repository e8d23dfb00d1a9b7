#pragma once

#include <span>
#include <string>

#include "lab/report/summary.hpp"
#include "lab/run/run_record.hpp"

/// The parts of a page that need no script, as HTML.
namespace bcos::lab::report {

/// The numbers of one run, as tiles.
std::string run_tiles(const RunSummary& run);

/// A row a method and learning rate, the best of each method marked.
std::string group_table(const Comparison& comparison);

/// A row a run.
std::string runs_table(std::span<const run::RunRecord> runs, const Comparison& comparison);

/// Settings and facts: of one run as they are; of several, once what all have in common, then a
/// column a run of what differs.
std::string settings_tables(std::span<const run::RunRecord> runs);
std::string facts_tables(std::span<const run::RunRecord> runs);

}  // namespace bcos::lab::report
