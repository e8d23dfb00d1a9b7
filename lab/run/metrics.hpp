#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bcos::lab::run {

/// Stands for a number that a line does not have, or has as null because it was not finite.
inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// One training step.
struct TrainPoint {
  std::int64_t step = 0;
  double loss = kNoNumber;
  double lr = kNoNumber;
  double norm = kNoNumber;  ///< of all gradients, before clipping
  bool clipped = false;
  std::int64_t skipped = 0;  ///< bad steps so far
  double ms = kNoNumber;
  double opt_ms = kNoNumber;  ///< the optimizer's part of ms
  double rate = kNoNumber;    ///< tokens or images a second
};

/// One pass over the validation data.
struct EvalPoint {
  std::int64_t step = 0;
  double loss = kNoNumber;
  double accuracy = kNoNumber;  ///< of classifiers, from 0 to 1
};

/// What a diagnosis found in one group of parameters at one step.
struct DiagnosisPoint {
  std::int64_t step = 0;
  std::string kind;   ///< "aiming", "signal"
  std::string group;  ///< "all", "attention", ...
  std::map<std::string, double> values;
};

/// Sorted by step, each step once; of a diagnosis each kind and group of a step.
struct Metrics {
  std::vector<TrainPoint> train;
  std::vector<EvalPoint> eval;
  std::vector<DiagnosisPoint> diagnosis;
  std::int64_t cut_lines = 0;  ///< could not be read: a full disk or a crash has cut them
};

/// Reads metrics.jsonl: an object a line, with "s" (step) and "trl" (training), "tel" (evaluation)
/// or "kind" and "group" (diagnosis). Of lines about the same step the last wins, for a resumed run
/// writes again; of a diagnosis the last of each value, for some are known later than others. Lines
/// and keys of other kinds are ignored; lines that are not such objects are left out and counted,
/// but for an unfinished last one. Throws Error(io), or Error(corrupt) for a line above 64 MB.
Metrics read_metrics(const std::string& path);

/// The same, of text that came from `path`.
Metrics parse_metrics(std::string_view text, const std::string& path);

}  // namespace bcos::lab::run
