#pragma once

#include <span>
#include <string>

#include "lab/report/summary.hpp"
#include "lab/run/run_record.hpp"

/// Pages to look at, in one file that opens without a network: curves, numbers, settings.
namespace bcos::lab::report {

/// Points of a curve that a page holds at most; a page of many runs holds fewer.
inline constexpr std::size_t kMostPoints = 4000;

std::string run_page(const run::RunRecord& run);

/// All runs over each other. Throws Error(invalid_argument) for no runs.
std::string compare_page(const std::string& title, std::span<const run::RunRecord> runs,
                         const ComparisonOptions& options = {});

}  // namespace bcos::lab::report
