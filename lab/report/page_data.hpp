#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "lab/report/summary.hpp"
#include "lab/run/run_record.hpp"

namespace bcos::lab::report {

struct PageData {
  nlohmann::ordered_json json;  ///< what page.js draws
  bool thinned = false;         ///< some curve has fewer points than its run
};

/// The curves of runs and their summaries, with at most `most_points` points a curve.
PageData page_data(bool comparison, std::span<const run::RunRecord> runs, const Comparison& summary,
                   std::size_t most_points);

}  // namespace bcos::lab::report
