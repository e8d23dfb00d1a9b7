#include <cmath>

#include "engine/update/check_max_norm.hpp"
#include "engine/update/float_environment.hpp"
#include "engine/update/plan_impl.hpp"

/// Making a plan, checking a call, and the order of a step.
namespace bcos {

void Plan::Impl::plan_tensors(std::span<const Parameter> parameters) {
  tensors_.reserve(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].group >= methods_.size()) {
      throw fail("plan", "expected group < {} for parameter {} but received {}", methods_.size(), i,
                 parameters[i].group);
    }
    tensors_.emplace_back(parameters[i], methods_[parameters[i].group], i);
    heads_.push_back(tensors_.back().head());
    all_bytes_ += tensors_.back().bytes_a_step;
  }
}

void Plan::Impl::plan_tasks() {
  std::uint64_t norm_chunks = 0;
  std::uint64_t large_chunks = 0;
  std::uint64_t large_blocks = 0;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    PlannedTensor& tensor = tensors_[i];
    first_norm_chunk_.push_back(norm_chunks);
    if (tensor.n == 0) continue;
    const auto at = static_cast<std::uint32_t>(i);
    norm_tasks_.append(at, 0, tensor.n, 1, kSumChunk);
    norm_chunks += chunks_of(tensor.n);

    const BlockShape& blocks = tensor.blocks;
    const std::uint64_t length = tensor.n / blocks.count();
    if (blocks.kind() == BlockShape::Kind::coordinate) {
      step_tasks_.append(at, 0, tensor.n, 1, 1);
    } else if (blocks.kind() == BlockShape::Kind::contiguous && length > kLargeBlock &&
               tensor.states_dense) {
      tensor.large = true;
      tensor.large_chunk = large_chunks;
      tensor.first_move = large_blocks;
      large_chunks += blocks.count() * chunks_of(length);
      large_blocks += blocks.count();
      // Pieces are elements here; cut on the grid of the sums' chunks.
      for (std::uint64_t k = 0; k < blocks.count(); ++k) {
        large_tasks_.append(at, k * length, (k + 1) * length, 1, kSumChunk);
      }
      step_tasks_.append(at, 0, tensor.n, 1, 1);
    } else {
      const std::uint64_t grid = blocks.kind() == BlockShape::Kind::columns ? kGatheredTogether : 1;
      step_tasks_.append(at, 0, blocks.count(), std::max<std::uint64_t>(length, 1), grid);
    }
  }
  norm_tasks_.finish();
  step_tasks_.finish();
  large_tasks_.finish();
  norm_sums_.resize(norm_chunks);
  large_sums_.resize(large_chunks);
  large_moves_f32_.resize(large_blocks);
  large_moves_f64_.resize(large_blocks);
  block_steps_f32_.reserve(tensors_.size());
  block_steps_f64_.reserve(tensors_.size());
}

void Plan::Impl::set_numbers(std::size_t group, const Method& method) {
  if (group >= methods_.size()) {
    throw fail("set_numbers", "expected group < {} but received {}", methods_.size(), group);
  }
  if (!same_but_numbers(methods_[group], method)) {
    throw fail(ErrorCode::mismatch, "set_numbers",
               "expected a method that differs in its numbers alone: make a new plan");
  }
  validate(method);
  methods_[group] = method;
}

void Plan::Impl::check_step(std::span<const Gradient> gradients, std::span<const double> alphas,
                            std::span<std::uint64_t> steps, const StepOptions& options) const {
  if (gradients.size() != tensors_.size() || steps.size() != tensors_.size()) {
    throw fail(ErrorCode::mismatch, "update",
               "expected {} gradients and step counters but received {} and {}", tensors_.size(),
               gradients.size(), steps.size());
  }
  if (alphas.size() != methods_.size()) {
    throw fail(ErrorCode::mismatch, "update", "expected {} alphas, one a group, but received {}",
               methods_.size(), alphas.size());
  }
  for (const double alpha : alphas) {
    if (!(alpha >= 0) || !std::isfinite(alpha)) {
      throw fail("update", "expected a finite alpha >= 0 but received {}", alpha);
    }
  }
  if (options.grad_scale == 0 || !std::isfinite(options.grad_scale)) {
    throw fail("update", "expected a finite grad_scale other than 0 but received {}",
               options.grad_scale);
  }
  check_max_norm(options.max_norm, "update");
}

void Plan::Impl::check_oracle(const PlannedTensor& tensor) const {
  const Method& method = methods_[tensor.group];
  if (method.estimator != Estimator::oracle) return;
  const void* oracle = tensor.gradient->oracle;
  if (oracle == nullptr && tensor.n > 0) {
    throw fail("update", "expected oracle values for {} but received null", tensor.label);
  }
  const bool may_vanish = method.eps > 0 || method.eps_root > 0;
  for (std::uint64_t k = 0; k < tensor.blocks.count(); ++k) {
    const double value = tensor.dtype == DType::f32
                             ? static_cast<double>(static_cast<const float*>(oracle)[k])
                             : static_cast<const double*>(oracle)[k];
    if (!(value >= 0) || (value == 0 && !may_vanish)) {
      throw fail("update", "expected oracle {} 0 in block {} of {} but received {}",
                 may_vanish ? ">=" : ">", k, tensor.label, value);
    }
  }
}

void Plan::Impl::bind(std::span<const Gradient> gradients, std::span<const double> alphas,
                      StepReport& report) {
  constexpr std::size_t kSoon = 16;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    // The step before has driven them out of the caches.
    const std::size_t soon = std::min(i + kSoon, heads_.size() - 1);
    __builtin_prefetch(&heads_[soon], 1);
    __builtin_prefetch(&gradients[soon]);
    TensorHead& head = heads_[i];
    const Gradient& gradient = gradients[i];
    head.g = gradient.data;
    head.in_step = gradient.data != nullptr || head.n == 0;
    if (!head.in_step) {
      ++report.missing;
      continue;
    }
    const Tap& tap = gradient.tap;
    head.ordinary = head.plain && gradient.strides.empty() && gradient.oracle == nullptr &&
                    tap.g == nullptr && tap.d == nullptr && tap.v == nullptr &&
                    tap.update == nullptr && methods_[head.group].estimator != Estimator::oracle;
    if (head.ordinary) {
      check_gradient(head, head.g, true, tensors_[i].label);
    } else {
      tensors_[i].bind(gradient);
      check_oracle(tensors_[i]);
    }
    report.elements += head.n;
  }
  for (std::size_t k = 0; k < methods_.size(); ++k) {
    report.decay_above_one |=
        methods_[k].decay == Decay::decoupled && alphas[k] * methods_[k].lambda > 1;
  }
  bound_ = gradients;
}

std::uint64_t Plan::Impl::bytes_of_step() const {
  if (std::ranges::all_of(heads_, &TensorHead::in_step)) return all_bytes_;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    if (heads_[i].in_step) bytes += tensors_[i].bytes_a_step;
  }
  return bytes;
}

/// Frameworks make the state of a fresh optimizer by a step with zero gradients at alpha = 0: such
/// parameters stay unstarted.
void Plan::Impl::leave_unstarted(std::span<const double> alphas,
                                 std::span<const std::uint64_t> steps, StepReport& report) {
  if (!std::ranges::count(alphas, 0.0)) return;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    TensorHead& head = heads_[i];
    if (!head.in_step || steps[i] != 0 || alphas[head.group] != 0) continue;
    if (head.ordinary) tensors_[i].bind(bound_[i]);
    if (!tensors_[i].gradient_is_zero()) continue;
    tensors_[i].zero_states();
    report.elements -= head.n;
    head.in_step = false;
  }
}

StepReport Plan::Impl::update(std::span<const Gradient> gradients, std::span<const double> alphas,
                              std::span<std::uint64_t> steps, const StepOptions& options) {
  const DefaultFloatEnvironment environment;
  check_step(gradients, alphas, steps, options);
  StepReport report;
  bind(gradients, alphas, report);
  const double factor = gradient_factor(options, report);
  if (report.skipped) {
    report.elements = 0;
    if (options.guard == Guard::raise) {
      throw fail(ErrorCode::non_finite, "update",
                 "expected finite gradients but received NaN or infinity: nothing was changed");
    }
    return report;
  }
  leave_unstarted(alphas, steps, report);
  report.bytes = bytes_of_step();
  find_numbers(alphas, steps, factor);
  if (large_tasks_.tasks() > 0) {
    run(large_tasks_, &Impl::sum_large);
    find_large_moves();
  }
  run(step_tasks_, &Impl::step);
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    if (heads_[i].in_step) ++steps[i];
  }
  return report;
}

Plan::Plan(std::span<const Method> groups, std::span<const Parameter> parameters,
           const PlanOptions& options)
    : impl_(std::make_unique<Impl>(groups, parameters, options)) {}
Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

StepReport Plan::update(std::span<const Gradient> gradients, std::span<const double> alphas,
                        std::span<std::uint64_t> steps, const StepOptions& options) {
  return impl_->update(gradients, alphas, steps, options);
}

void Plan::set_numbers(std::size_t group, const Method& method) {
  impl_->set_numbers(group, method);
}

Target Plan::target() const { return impl_->target(); }

StepReport update(std::span<const Method> groups, std::span<const Parameter> parameters,
                  std::span<const Gradient> gradients, std::span<const double> alphas,
                  std::span<std::uint64_t> steps, const StepOptions& options,
                  const PlanOptions& plan_options) {
  return Plan(groups, parameters, plan_options).update(gradients, alphas, steps, options);
}

}  // namespace bcos
