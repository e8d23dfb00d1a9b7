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
  for (std::size_t k = 0; k < methods.size(); ++k) {
    report.decay_above_one |=
        methods[k].decay == Decay::decoupled && alphas[k] * methods[k].lambda > 1;
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
  for (Share& share : shares) {
    if (!share.items.empty()) share.backend->step(share.items);
    for (const std::size_t parameter : share.parameters) {
      ++steps[parameter];
      report.elements += entries[parameter].elements;
      report.bytes += entries[parameter].place.bytes;
    }
  }
  return report;
}

void Plan::Impl::check_call(std::span<const Gradient> gradients, std::span<const double> alphas,
                            std::span<const std::uint64_t> steps,
                            const StepOptions& options) const {
  if (gradients.size() != entries.size() || steps.size() != entries.size()) {
    throw fail(ErrorCode::mismatch, "update",
               "expected {} gradients and step counters but received {} and {}", entries.size(),
               gradients.size(), steps.size());
  }
  if (alphas.size() != methods.size()) {
    throw fail(ErrorCode::mismatch, "update", "expected {} alphas, one per group, but received {}",
               methods.size(), alphas.size());
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
      throw fail("update", "expected a step counter below 2^63 for {} but received {}",
                 known[i].label, steps[i]);
    }
  }
  check_max_norm(options.max_norm, "update");
}

void Plan::Impl::list_items(std::span<const Gradient> gradients, StepReport& report) {
  for (Share& share : shares) {
    share.items.clear();
    share.parameters.clear();
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (gradients[i].data == nullptr && entries[i].elements > 0) {
      ++report.missing;
      continue;
    }
    Share& share = shares[entries[i].backend];
    share.items.push_back({entries[i].place.slot, &gradients[i]});
    share.parameters.push_back(i);
  }
  for (Share& share : shares) {
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
  squares.assign(entries.size(), 0);
  for (Share& share : shares) {
    if (share.items.empty()) continue;
    share.squares.resize(share.items.size());
    share.backend->squares(share.items, scale, share.squares);
    for (std::size_t k = 0; k < share.items.size(); ++k) {
      squares[share.parameters[k]] = share.squares[k];
    }
  }
  double total = 0;
  for (const double square : squares) total += square;
  return total;
}

/// Once for all neighbours of one kind.
void Plan::Impl::find_numbers(std::span<const double> alphas, std::span<const std::uint64_t> steps,
                              double factor) {
  numbers.clear();
  for (Share& share : shares) {
    const StepNumbers* last = nullptr;
    for (std::size_t k = 0; k < share.items.size(); ++k) {
      const std::size_t i = share.parameters[k];
      const Entry& entry = entries[i];
      const std::size_t before = share.parameters[k == 0 ? 0 : k - 1];
      if (last == nullptr || entries[before].group != entry.group ||
          entries[before].dtype != entry.dtype || steps[before] != steps[i]) {
        const Method& method = methods[entry.group];
        numbers.push_back(step_numbers(method, alphas[entry.group], steps[i], factor));
        last = &numbers.back();
        check_range(*last, method.rule, entry.dtype, known[i].label);
      }
      share.items[k].numbers = last;
    }
  }
}

/// Frameworks make the state of a fresh optimizer by a step with zero gradients at alpha = 0: such
/// parameters stay unstarted.
void Plan::Impl::leave_unstarted(std::span<const double> alphas,
                                 std::span<const std::uint64_t> steps) {
  if (!std::ranges::count(alphas, 0.0)) return;
  for (Share& share : shares) {
    std::size_t left = 0;
    for (std::size_t k = 0; k < share.items.size(); ++k) {
      const std::size_t i = share.parameters[k];
      if (alphas[entries[i].group] == 0 && steps[i] == 0 &&
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
