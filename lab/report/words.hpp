#pragma once

#include <string>

#include "lab/report/summary.hpp"

/// Numbers and sentences as people read them. A number that is not there is "–".
namespace bcos::lab::report {

std::string loss_text(double loss);             ///< 1.526
std::string loss_text(const Spread& loss);      ///< 1.526 ± 0.004
std::string percent_text(double share);         ///< 41.0 %
std::string percent_text(const Spread& share);  ///< 41.0 ± 0.3 %
std::string ms_text(double ms);                 ///< 33.1, 0.213
std::string bytes_text(double bytes);           ///< 444 kB
std::string number_text(double number);         ///< 0.0006 and 6e-05, as short as they can be
std::string count_text(double count);           ///< 12,345; 1.5
std::string moment_text(double seconds);        ///< since 1970: 2026-11-16 14:59 UTC

/// How a run ended, its state, and what AdamW's would be.
std::string run_verdict(const RunSummary& run);

/// How each method ended at its best learning rate, and its state; no judgement beyond the numbers.
std::string comparison_verdict(const Comparison& comparison);

}  // namespace bcos::lab::report
