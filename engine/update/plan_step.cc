#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/error.hpp"
#include "engine/update/check_max_norm.hpp"
#include "engine/update/float_environment.hpp"
#include "engine/update/plan_impl.hpp"

/// The order of a step.
namespace bcos {

StepReport Plan::Impl::update(std::span<const Gradient> gradients, std::span<const double> alphas,
                              std::span<std::uint64_t> steps, const StepOptions& options) {
  const DefaultFloatEnvironment environment;
  check_call(gradients, alphas, steps, options);
  StepReport report;
  for (std::size_t k = 0; k < methods_.size(); ++k) {
    report.decay_above_one |=
        methods_[k].decay == Decay::decoupled && alphas[k] * methods_[k].lambda > 1;
  }
  list_items(gradients, report);
  const double factor = gradient_factor(options, report);
  if (report.skipped) {
    if (options.guard == Guard::raise) {
      throw fail(ErrorCode::non_finite, "update",
                 "expected finite gradients but received NaN or infinity: nothing was changed");
    }
    return report;
  }
  find_numbers(alphas, steps, factor);
  leave_unstarted(alphas, steps);
  for (Share& share : shares_) {
    if (!share.items.empty()) share.backend->step(share.items);
    for (const std::size_t parameter : share.parameters) {
      ++steps[parameter];
      report.elements += entries_[parameter].elements;
      report.bytes += entries_[parameter].place.bytes;
    }
  }
  return report;
}

void Plan::Impl::check_call(std::span<const Gradient> gradients, std::span<const double> alphas,
                            std::span<const std::uint64_t> steps,
                            const StepOptions& options) const {
  if (gradients.size() != entries_.size() || steps.size() != entries_.size()) {
    throw fail(ErrorCode::mismatch, "update",
               "expected {} gradients and step counters but received {} and {}", entries_.size(),
               gradients.size(), steps.size());
  }
  if (alphas.size() != methods_.size()) {
    throw fail(ErrorCode::mismatch, "update", "expected {} alphas, one per group, but received {}",
               methods_.size(), alphas.size());
  }
  for (const double alpha : alphas) {
    if (!(alpha >= 0) || !std::isfinite(alpha)) {
      throw fail("update", "expected a finite alpha >= 0 but received {}", alpha);
    }
  }
  if (!std::isfinite(options.grad_scale) || !std::isfinite(1 / options.grad_scale)) {
    throw fail("update",
               "expected a finite grad_scale with a finite inverse, other than 0, but received {}",
               options.grad_scale);
  }
  constexpr std::uint64_t kMostSteps = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] > kMostSteps) {
      throw fail("update", "expected a step counter below 2^63 for {} but received {}", labels_[i],
                 steps[i]);
    }
  }
  check_max_norm(options.max_norm, "update");
}

void Plan::Impl::list_items(std::span<const Gradient> gradients, StepReport& report) {
  for (Share& share : shares_) {
    share.items.clear();
    share.parameters.clear();
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (gradients[i].data == nullptr && entries_[i].elements > 0) {
      ++report.missing;
      continue;
    }
    Share& share = shares_[entries_[i].backend];
    share.items.push_back({entries_[i].place.slot, &gradients[i]});
    share.parameters.push_back(i);
  }
  for (Share& share : shares_) {
    if (!share.items.empty()) share.backend->bind(share.items);
  }
}

/// What clipping and grad_scale make of the gradients; sets what the report says of both.
double Plan::Impl::gradient_factor(const StepOptions& options, StepReport& report) {
  // Squares in float64 can overflow; scaled by this they cannot.
  constexpr double kScale = 0x1p-600;
  const bool guarded = options.guard != Guard::propagate;
  if (!guarded && !options.max_norm) return 1 / options.grad_scale;

  double scale = 1;
  double square = sum_of_squares(scale);
  if (!std::isfinite(square)) {
    scale = kScale;
    square = sum_of_squares(scale);
  }
  if (!std::isfinite(square) && guarded) {
    report.skipped = true;
    return 0;
  }
  const double scaled_norm = std::sqrt(square) / std::abs(options.grad_scale);
  report.norm = scaled_norm / scale;
  double clip = 1;
  if (options.max_norm) {
    // As in torch's clip_grad_norm_: the norm plus 1e-6.
    const double ratio = *options.max_norm * scale / (scaled_norm + 1e-6 * scale);
    clip = ratio < 1 || std::isnan(ratio) ? ratio : 1;
    report.clipped = clip < 1;
  }
  return clip / options.grad_scale;
}

double Plan::Impl::sum_of_squares(double scale) {
  squares_.assign(entries_.size(), 0);
  for (Share& share : shares_) {
    if (share.items.empty()) continue;
    share.squares.resize(share.items.size());
    share.backend->squares(share.items, scale, share.squares);
    for (std::size_t k = 0; k < share.items.size(); ++k) {
      squares_[share.parameters[k]] = share.squares[k];
    }
  }
  double total = 0;
  for (const double square : squares_) total += square;
  return total;
}

void Plan::Impl::find_numbers(std::span<const double> alphas, std::span<const std::uint64_t> steps,
                              double factor) {
  numbers_.clear();
  for (Share& share : shares_) {
    std::size_t last = entries_.size();
    for (std::size_t k = 0; k < share.items.size(); ++k) {
      const std::size_t i = share.parameters[k];
      const Entry& entry = entries_[i];
      const bool same = last < entries_.size() && entries_[last].group == entry.group &&
                        entries_[last].dtype == entry.dtype && steps[last] == steps[i];
      if (!same) {
        const Method& method = methods_[entry.group];
        numbers_.push_back(step_numbers(method, alphas[entry.group], steps[i], factor));
        if (entry.dtype == DType::f32) {
          check_range<float>(numbers_.back(), method.rule, labels_[i]);
        } else {
          check_range<double>(numbers_.back(), method.rule, labels_[i]);
        }
      }
      share.items[k].numbers = &numbers_.back();
      last = i;
    }
  }
}

/// Frameworks make the state of a fresh optimizer by a step with zero gradients at alpha = 0: such
/// parameters stay unstarted.
void Plan::Impl::leave_unstarted(std::span<const double> alphas,
                                 std::span<const std::uint64_t> steps) {
  if (!std::ranges::count(alphas, 0.0)) return;
  for (Share& share : shares_) {
    std::size_t left = 0;
    for (std::size_t k = 0; k < share.items.size(); ++k) {
      const std::size_t i = share.parameters[k];
      if (alphas[entries_[i].group] == 0 && steps[i] == 0 &&
          share.backend->gradient_is_zero(share.items[k])) {
        share.backend->start_at_zero(share.items[k]);
        continue;
      }
      share.items[left] = share.items[k];
      share.parameters[left++] = i;
    }
    share.items.resize(left);
    share.parameters.resize(left);
  }
}

}  // namespace bcos
