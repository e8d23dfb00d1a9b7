#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

namespace bcos::lab::bench {

inline double seconds_of(const std::function<void()>& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Median and quartiles of a sample.
struct Quartiles {
  double low = 0;
  double median = 0;
  double high = 0;
};

inline Quartiles quartiles_of(std::vector<double> sample) {
  std::ranges::sort(sample);
  const auto at = [&](double share) {
    return sample[static_cast<std::size_t>(
        std::lround(share * static_cast<double>(sample.size() - 1)))];
  };
  return {at(0.25), at(0.5), at(0.75)};
}

/// A candidate against a base, in turn: base, candidate, base, ... Each candidate is compared with
/// the bases before and after it, so that a slow spell of the machine hits both.
struct PairedTimes {
  Quartiles ratio;
  Quartiles base_seconds;
  double candidate_seconds = 0;  ///< median
};

/// `repeats` runs make one sample, so that a sample is long against the clock.
inline PairedTimes measure_pairs(const std::function<void()>& base,
                                 const std::function<void()>& candidate, int pairs,
                                 int repeats = 1) {
  const auto sample = [repeats](const std::function<void()>& action) {
    return seconds_of([&] {
             for (int i = 0; i < repeats; ++i) action();
           }) /
           repeats;
  };
  sample(base);
  sample(candidate);
  std::vector<double> ratios, bases, candidates;
  double before = sample(base);
  for (int i = 0; i < pairs; ++i) {
    const double time = sample(candidate);
    const double after = sample(base);
    ratios.push_back(2 * time / (before + after));
    bases.push_back(after);
    candidates.push_back(time);
    before = after;
  }
  return {quartiles_of(ratios), quartiles_of(bases), quartiles_of(candidates).median};
}

}  // namespace bcos::lab::bench
