#include "bcos/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bcos/text.hpp"
#include "engine/error.hpp"

namespace bcos {
namespace {

constexpr std::string_view kValidate = "validate";
// Steps are turned into doubles, which count exactly up to here.
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 53;

bool ends(Curve curve) {
  return curve == Curve::cosine || curve == Curve::linear || curve == Curve::wsd;
}

std::uint64_t decay_length(const Schedule& schedule) {
  if (schedule.curve != Curve::wsd) return schedule.total - schedule.warmup;
  if (schedule.decay_steps != 0) return schedule.decay_steps;
  if (schedule.total == schedule.warmup) return 0;  // nothing comes after warm-up
  return (schedule.total + 2) / 5;  // a fifth, to the nearest step: fifths never tie
}

/// How far the decay of `length` steps has come at its step s, in [0, 1].
double progress_at(Progress progress, std::uint64_t s, std::uint64_t length) {
  const auto at = static_cast<double>(s);
  const auto steps = static_cast<double>(length);
  switch (progress) {
    case Progress::begin:
      return at / steps;
    case Progress::end:
      return (at + 1) / steps;
    case Progress::span:
      return length == 1 ? 0.0 : at / (steps - 1);
  }
  return 1.0;
}

/// alpha of the curves that end, at step t with warmup <= t.
double decayed(const Schedule& schedule, std::uint64_t t) {
  const double peak = schedule.alpha_max;
  const double floor = schedule.alpha_min;
  if (t >= schedule.total) return floor;
  const std::uint64_t length = decay_length(schedule);
  const std::uint64_t begin = schedule.total - length;
  if (t < begin) return peak;
  const double progress = progress_at(schedule.progress, t - begin, length);
  switch (schedule.curve) {
    case Curve::cosine:
      return floor + 0.5 * (peak - floor) * (1 + std::cos(std::numbers::pi * progress));
    case Curve::linear:
      return floor + (peak - floor) * (1 - progress);
    default:
      return floor + (peak - floor) * (1 - std::sqrt(progress));
  }
}

double stepped(const Schedule& schedule, std::uint64_t t) {
  const auto passed = std::ranges::upper_bound(schedule.milestones, t);
  const auto count = passed - schedule.milestones.begin();
  return schedule.alpha_max * std::pow(schedule.factor, static_cast<double>(count));
}

/// peak times the fraction that warm-up step t uses.
double warmed(const Schedule& schedule, double peak, std::uint64_t t) {
  const auto at = static_cast<double>(t);
  const auto length = static_cast<double>(schedule.warmup);
  switch (schedule.warmup_count) {
    case WarmupCount::from_one:
      return peak * (at + 1) / length;
    case WarmupCount::from_zero:
      return peak * at / length;
    case WarmupCount::nanogpt:
      return peak * (at + 1) / (length + 1);
  }
  return peak;
}

void check_not_negative(std::string_view field, double value) {
  if (!(value >= 0 && std::isfinite(value))) {
    throw fail(kValidate, "expected {} finite and >= 0 but received {}", field, value);
  }
}

void check_steps(std::string_view field, std::uint64_t value) {
  if (value > kMostSteps) {
    throw fail(kValidate, "expected {} <= 2^53 but received {}", field, value);
  }
}

void check_lengths(const Schedule& schedule) {
  check_steps("warmup", schedule.warmup);
  check_steps("total", schedule.total);
  check_steps("decay_steps", schedule.decay_steps);
  if (ends(schedule.curve) && schedule.total == 0) {
    throw fail(kValidate, "expected total >= 1 for curve {} but received 0", name(schedule.curve));
  }
  if (schedule.total != 0 && schedule.warmup > schedule.total) {
    throw fail(kValidate, "expected warmup <= total = {} but received {}", schedule.total,
               schedule.warmup);
  }
  if (schedule.curve == Curve::wsd && decay_length(schedule) > schedule.total - schedule.warmup) {
    throw fail(kValidate, "expected decay_steps <= total - warmup = {} but received {}{}",
               schedule.total - schedule.warmup, decay_length(schedule),
               schedule.decay_steps == 0 ? ", a fifth of total; set decay_steps" : "");
  }
}

void check_milestones(const std::vector<std::uint64_t>& milestones) {
  for (std::size_t i = 0; i < milestones.size(); ++i) {
    check_steps("milestones", milestones[i]);
    if (i > 0 && milestones[i] <= milestones[i - 1]) {
      throw fail(kValidate, "expected increasing milestones but received {} after {}",
                 milestones[i], milestones[i - 1]);
    }
  }
}

}  // namespace

void validate(const Schedule& schedule) {
  // name() throws for a number that is no enumerator.
  name(schedule.curve);
  name(schedule.warmup_count);
  name(schedule.progress);
  check_not_negative("alpha_max", schedule.alpha_max);
  check_not_negative("alpha_min", schedule.alpha_min);
  if (ends(schedule.curve) && schedule.alpha_min > schedule.alpha_max) {
    throw fail(kValidate, "expected alpha_min <= alpha_max = {} but received {}",
               schedule.alpha_max, schedule.alpha_min);
  }
  check_lengths(schedule);
  check_not_negative("p", schedule.p);
  if (!(schedule.factor > 0 && schedule.factor <= 1)) {
    throw fail(kValidate, "expected factor in (0, 1] but received {}", schedule.factor);
  }
  check_milestones(schedule.milestones);
}

double alpha_at(const Schedule& schedule, std::uint64_t t) {
  const bool warming = t < schedule.warmup;
  // Milestones count absolute steps; every other curve starts its clock when warm-up ends.
  if (schedule.curve == Curve::step) {
    const double alpha = stepped(schedule, t);
    return warming ? warmed(schedule, alpha, t) : alpha;
  }
  if (warming) return warmed(schedule, schedule.alpha_max, t);
  if (ends(schedule.curve)) return decayed(schedule, t);
  const double clock = static_cast<double>(t - schedule.warmup) + 1;
  switch (schedule.curve) {
    case Curve::inverse:
      return schedule.alpha_max / clock;
    case Curve::power:
      return schedule.alpha_max / std::pow(clock, schedule.p);
    default:
      return schedule.alpha_max;
  }
}

}  // namespace bcos
