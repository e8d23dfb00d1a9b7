#pragma once

#include <span>
#include <string>

#include "lab/report/run_record.hpp"

/// Pages to look at, in one file that opens without a network: curves, numbers, settings.
namespace bcos::lab {

/// Points of a curve that a page holds at most; a page of many runs holds fewer.
inline constexpr std::size_t kMostPoints = 4000;

std::string run_page(const RunRecord& run);

/// All runs over each other. Throws Error(invalid_argument) for no runs.
std::string compare_page(const std::string& title, std::span<const RunRecord> runs);

/// Replaces a file wholly or not at all. Throws Error(io).
void write_page(const std::string& path, const std::string& text);

}  // namespace bcos::lab
