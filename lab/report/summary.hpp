#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/run/run_record.hpp"

namespace bcos::lab::report {

/// The numbers of one run. What a run has not recorded is kNoNumber.
struct RunSummary {
  std::string method;          ///< run.json's, else the setting's; what tells it from others added
  double lr = run::kNoNumber;  ///< of run.json, else of the settings, else the largest used
  std::string seed;
  double decay_rate = run::kNoNumber;  ///< alpha x lambda at the peak
  run::State state;                    ///< only finished runs count
  bool counts = true;  ///< false: another folder holds the same run, or its seed chose the rate

  std::int64_t steps = 0;              ///< training steps recorded
  double final_loss = run::kNoNumber;  ///< validation loss of the last evaluation
  double best_loss = run::kNoNumber;   ///< least validation loss, at best_step
  std::int64_t final_step = 0;
  std::int64_t best_step = 0;
  double final_accuracy = run::kNoNumber;
  double final_train_loss = run::kNoNumber;  ///< smoothed over about 20 steps

  std::int64_t spikes = 0;      ///< see count_spikes
  std::int64_t not_finite = 0;  ///< training steps whose loss was not finite
  std::int64_t skipped = 0;     ///< bad steps that the guard skipped
  std::int64_t cut_lines = 0;   ///< of its metrics that could not be read
  double ms = run::kNoNumber;   ///< mean of a step, the first left out: it pays for the start
  double optimizer_share = run::kNoNumber;  ///< of the same steps' time, from 0 to 1
  double state_bytes = run::kNoNumber;
  double adamw_state_bytes = run::kNoNumber;
};

RunSummary summarize(const run::RunRecord& run);

/// Steps with a loss above median + 6 * 1.4826 * MAD of the 50 finite losses before it.
std::int64_t count_spikes(std::span<const double> losses);

/// Exponential moving average with the given weight of the past in [0, 1), corrected for the start
/// from nothing. A value that is not finite has no part in it and repeats the average so far.
std::vector<double> smoothed(std::span<const double> values, double weight);

/// Mean and standard deviation (n - 1) over runs. The mean is kNoNumber if any value is not finite:
/// an average of the runs that went well would hide the others. The deviation of one run is
/// kNoNumber.
struct Spread {
  double mean = run::kNoNumber;
  double deviation = run::kNoNumber;
};
Spread spread_of(std::span<const double> values);

/// Runs that differ in the seed alone.
struct Group {
  std::string method;  ///< with what tells it from other groups
  double lr = run::kNoNumber;
  double decay_rate = run::kNoNumber;
  std::vector<std::size_t> runs;  ///< into Comparison::runs
  std::size_t counted = 0;        ///< finished, and in the means
  std::size_t expected = 0;       ///< that should be, were all of them finished
  std::string trouble;            ///< "1 of 3 diverged"; empty if all is well
  Spread final_loss;
  Spread best_loss;
  Spread final_accuracy;
  double spikes = 0;  ///< mean of a run
  double ms = run::kNoNumber;
  double optimizer_share = run::kNoNumber;
  double state_bytes = run::kNoNumber;
  bool best_lr = false;   ///< has the least mean final loss of its method
  std::size_t rates = 1;  ///< of its method that were tried
  bool edge = false;      ///< the best, but no rate beyond it was tried
};

struct ComparisonOptions {
  /// A learning rate that is chosen on the seeds that judge it looks better than it is: this one
  /// chooses, and counts only where no other is there.
  std::optional<std::uint64_t> choosing_seed;
};

struct Comparison {
  std::vector<RunSummary> runs;  ///< as given
  std::vector<Group> groups;     ///< methods in order of appearance, each by rising lr

  /// The group at the best learning rate of each method, in order; a method of which no group has a
  /// final loss is left out.
  std::vector<const Group*> best() const;
  /// Methods in order of appearance.
  std::vector<std::string> methods() const;
  /// Whether groups decay at different rates, alpha x lambda.
  bool decays_differ() const;
};

Comparison compare_runs(std::span<const run::RunRecord> runs,
                        const ComparisonOptions& options = {});

/// The final loss of one group less that of another on the same seeds: mean and standard error.
struct Difference {
  double mean = run::kNoNumber;
  double error = run::kNoNumber;  ///< of the mean; needs two seeds
  std::size_t seeds = 0;
};
Difference difference_of(const Comparison& comparison, const Group& one, const Group& other);

}  // namespace bcos::lab::report
