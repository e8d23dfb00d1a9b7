#pragma once

#include <cstdint>
#include <vector>

#include "bcos/export.hpp"

namespace bcos {

/// The curve after warm-up.
enum class Curve { constant, cosine, linear, wsd, step, inverse, power };

/// What fraction of the peak warm-up step t uses.
enum class WarmupCount {
  from_one,   ///< (t+1)/W
  from_zero,  ///< t/W: the first step is 0
  nanogpt,    ///< (t+1)/(W+1)
};

/// How far a decay of length T-W has come at step t.
enum class Progress {
  begin,  ///< (t-W)/(T-W): the minimum is reached one past the last step
  end,    ///< (t-W+1)/(T-W): the minimum is used by the last step
  span,   ///< (t-W)/(T-1-W): peak at W, minimum at the last step
};

/// alpha_t for t = 0, 1, 2, ... as a value.
struct Schedule {
  Curve curve = Curve::constant;
  double alpha_max = 5e-4;
  double alpha_min = 0.0;                      ///< cosine, linear, wsd
  std::uint64_t warmup = 0;                    ///< W, at most `total` where there is one
  std::uint64_t total = 0;                     ///< T; cosine, linear and wsd need it
  std::uint64_t decay_steps = 0;               ///< D of wsd; 0 means a fifth of T
  double p = 0.75;                             ///< power: alpha_max / (t+1)^p
  double factor = 0.1;                         ///< step: multiplies alpha at each milestone
  std::vector<std::uint64_t> milestones = {};  ///< step: absolute steps, increasing
  WarmupCount warmup_count = WarmupCount::from_one;
  Progress progress = Progress::begin;

  bool operator==(const Schedule&) const = default;
};

/// Throws Error naming the field, its bound and the value given.
BCOS_API void validate(const Schedule& schedule);

/// alpha_t. The schedule must be valid.
BCOS_API double alpha_at(const Schedule& schedule, std::uint64_t t);

}  // namespace bcos
