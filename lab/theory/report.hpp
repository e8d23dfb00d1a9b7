#pragma once

#include <span>
#include <string>

#include "lab/theory/results.hpp"

/// A folder to look at: theory.html, which opens offline, theory.json, and figures/*.svg.
namespace bcos::lab::theory {

/// Makes the folder. Throws Error(io) where nothing can be written, so that nobody waits for
/// experiments whose report would be lost.
void prepare_report(const std::string& folder);

/// Replaces the files of the folder, each wholly or not at all. Throws Error(io).
void write_report(const std::string& folder, std::span<const Result> results,
                  const RunOptions& options);

/// The page: a tour in the order of the paper.
std::string report_page(std::span<const Result> results, const RunOptions& options);

}  // namespace bcos::lab::theory
