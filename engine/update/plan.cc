#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "bcos/update.hpp"
#include "engine/error.hpp"
#include "engine/executor/run_tasks.hpp"
#include "engine/update/block_walk.hpp"
#include "engine/update/coefficients.hpp"
#include "engine/update/float_environment.hpp"
#include "engine/update/pieces.hpp"
#include "engine/update/planned_tensor.hpp"

namespace bcos {
namespace {

/// Fewer elements than this are not worth waking other threads for.
constexpr std::uint64_t kWorthThreads = 4 * TaskList::kTaskElements;

/// Blocks longer than this are summed and applied by several tasks.
constexpr std::uint64_t kLargeBlock = 2 * TaskList::kTaskElements;

std::uint64_t chunks_of(std::uint64_t n) { return (n + kSumChunk - 1) / kSumChunk; }

/// float64 squares can overflow; scaled by this they cannot.
constexpr double kNormScale = 0x1p-600;

bool same_but_numbers(Method a, const Method& b) {
  a.beta = b.beta;
  a.beta_v = b.beta_v;
  a.eps = b.eps;
  a.eps_root = b.eps_root;
  a.lambda = b.lambda;
  a.c = b.c;
  return a == b;
}

}  // namespace

class Plan::Impl {
 public:
  Impl(std::span<const Method> groups, std::span<const Parameter> parameters,
       const PlanOptions& options)
      : methods_(groups.begin(), groups.end()),
        executor_(options.executor),
        target_(options.target.value_or(default_target())),
        f32_(kernels::kernels_of<float>(target_)),
        f64_(kernels::kernels_of<double>(target_)) {
    std::ranges::for_each(methods_, [](const Method& method) { validate(method); });
    if (!std::ranges::count(available_targets(), target_)) {
      throw fail("plan", "expected a target this CPU can run but received {}", name(target_));
    }
    plan_tensors(parameters);
    check_no_overlap(tensors_);
    plan_tasks();
  }

  StepReport update(std::span<const Gradient> gradients, std::span<const double> alphas,
                    std::span<std::uint64_t> steps, const StepOptions& options);
  void set_numbers(std::size_t group, const Method& method);
  Target target() const { return target_; }

 private:
  using Work = void (Impl::*)(const Piece&);

  void plan_tensors(std::span<const Parameter> parameters);
  void plan_tasks();
  void check_step(std::span<const Gradient> gradients, std::span<const double> alphas,
                  std::span<std::uint64_t> steps, const StepOptions& options) const;
  void check_oracle(const PlannedTensor& tensor) const;
  void bind(std::span<const Gradient> gradients, std::span<const double> alphas,
            StepReport& report);
  double gradient_factor(const StepOptions& options, StepReport& report);
  double sum_of_squares(double scale);
  void find_numbers(std::span<const double> alphas, std::span<const std::uint64_t> steps,
                    double factor);

  void run(const TaskList& list, Work work);
  void sum_norm(const Piece& piece);
  void sum_large(const Piece& piece);
  void find_large_moves();
  void step(const Piece& piece);

  template <class T>
  void sum_norm_of(const PlannedTensor& tensor, const Piece& piece);
  template <class T>
  void sum_large_of(const PlannedTensor& tensor, const Piece& piece);
  template <class T>
  void find_large_moves_of(const PlannedTensor& tensor);
  template <class T>
  void step_of(const PlannedTensor& tensor, const Piece& piece);
  template <class T>
  void step_coordinates(const PlannedTensor& tensor, const Piece& piece);

  template <class T>
  const kernels::Kernels<T>& kernels() const {
    if constexpr (std::is_same_v<T, float>) return f32_;
    if constexpr (std::is_same_v<T, double>) return f64_;
  }
  template <class T>
  auto& block_steps() {
    if constexpr (std::is_same_v<T, float>) return block_steps_f32_;
    if constexpr (std::is_same_v<T, double>) return block_steps_f64_;
  }
  template <class T>
  auto& large_moves() {
    if constexpr (std::is_same_v<T, float>) return large_moves_f32_;
    if constexpr (std::is_same_v<T, double>) return large_moves_f64_;
  }
  template <class T>
  BlockStep<T> make_step(const StepNumbers& numbers, const Method& method) const {
    return {&kernels<T>(), recipe_of(method), coefficients<T>(numbers, method.rule), numbers};
  }

  std::vector<Method> methods_;
  Executor executor_;
  Target target_;
  const kernels::Kernels<float>& f32_;
  const kernels::Kernels<double>& f64_;
  std::vector<PlannedTensor> tensors_;

  TaskList step_tasks_;
  TaskList norm_tasks_;
  TaskList large_tasks_;
  std::vector<double> norm_sums_;
  double norm_scale_ = 1;
  std::vector<BlockSums> large_sums_;
  std::vector<BlockMove<float>> large_moves_f32_;
  std::vector<BlockMove<double>> large_moves_f64_;
  std::vector<BlockStep<float>> block_steps_f32_;
  std::vector<BlockStep<double>> block_steps_f64_;
};

void Plan::Impl::plan_tensors(std::span<const Parameter> parameters) {
  tensors_.reserve(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].group >= methods_.size()) {
      throw fail("plan", "expected group < {} for parameter {} but received {}", methods_.size(), i,
                 parameters[i].group);
    }
    tensors_.emplace_back(parameters[i], methods_[parameters[i].group], i);
  }
}

void Plan::Impl::plan_tasks() {
  std::uint64_t norm_chunks = 0;
  std::uint64_t large_chunks = 0;
  std::uint64_t large_blocks = 0;
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    PlannedTensor& tensor = tensors_[i];
    if (tensor.n == 0) continue;
    const auto at = static_cast<std::uint32_t>(i);
    norm_tasks_.append(at, 0, tensor.n, 1, kSumChunk);
    tensor.norm_chunk = norm_chunks;
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
  Method& planned = methods_[group];
  planned.beta = method.beta;
  planned.beta_v = method.beta_v;
  planned.eps = method.eps;
  planned.eps_root = method.eps_root;
  planned.lambda = method.lambda;
  planned.c = method.c;
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
      throw fail("update", "expected alpha >= 0 but received {}", alpha);
    }
  }
  if (!(options.grad_scale > 0) || !std::isfinite(options.grad_scale)) {
    throw fail("update", "expected grad_scale > 0 but received {}", options.grad_scale);
  }
  if (options.max_norm && !(*options.max_norm > 0)) {
    throw fail("update", "expected max_norm > 0 but received {}", *options.max_norm);
  }
}

void Plan::Impl::check_oracle(const PlannedTensor& tensor) const {
  const Method& method = methods_[tensor.group];
  if (method.estimator != Estimator::oracle) return;
  const void* oracle = tensor.gradient->oracle;
  if (oracle == nullptr && tensor.n > 0) {
    throw fail("update", "expected oracle values for parameter {} but received null", tensor.index);
  }
  const bool may_vanish = method.eps > 0 || method.eps_root > 0;
  for (std::uint64_t k = 0; k < tensor.blocks.count(); ++k) {
    const double value = tensor.dtype == DType::f32
                             ? static_cast<double>(static_cast<const float*>(oracle)[k])
                             : static_cast<const double*>(oracle)[k];
    if (!(value >= 0) || (value == 0 && !may_vanish)) {
      throw fail("update", "expected oracle {} 0 in block {} of parameter {} but received {}",
                 may_vanish ? ">=" : ">", k, tensor.index, value);
    }
  }
}

void Plan::Impl::bind(std::span<const Gradient> gradients, std::span<const double> alphas,
                      StepReport& report) {
  for (PlannedTensor& tensor : tensors_) {
    const Gradient& gradient = gradients[tensor.index];
    tensor.gradient = nullptr;
    if (gradient.data == nullptr && tensor.n > 0) {
      ++report.missing;
      continue;
    }
    tensor.bind(gradient);
    check_oracle(tensor);
    report.elements += tensor.n;
    report.bytes += tensor.bytes_a_step;
    const Method& method = methods_[tensor.group];
    const double alpha = alphas[tensor.group];
    report.decay_above_one |= method.decay == Decay::decoupled && alpha * method.lambda > 1;
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
    report.bytes = 0;
    if (options.guard == Guard::raise) {
      throw fail(ErrorCode::non_finite, "update",
                 "expected finite gradients but received NaN or infinity: nothing was changed");
    }
    return report;
  }
  // Frameworks make the state of a fresh optimizer by a step with zero gradients at alpha = 0.
  for (PlannedTensor& tensor : tensors_) {
    if (tensor.gradient != nullptr && steps[tensor.index] == 0 && alphas[tensor.group] == 0 &&
        tensor.gradient_is_zero()) {
      tensor.zero_states();
      report.elements -= tensor.n;
      report.bytes -= tensor.bytes_a_step;
      tensor.gradient = nullptr;
    }
  }
  find_numbers(alphas, steps, factor);
  if (large_tasks_.tasks() > 0) {
    run(large_tasks_, &Impl::sum_large);
    find_large_moves();
  }
  run(step_tasks_, &Impl::step);
  for (const PlannedTensor& tensor : tensors_) {
    if (tensor.gradient != nullptr) ++steps[tensor.index];
  }
  return report;
}

double Plan::Impl::gradient_factor(const StepOptions& options, StepReport& report) {
  const bool guarded = options.guard != Guard::propagate;
  if (!guarded && !options.max_norm) return 1 / options.grad_scale;

  double scale = 1;
  double square = sum_of_squares(scale);
  if (!std::isfinite(square)) {
    scale = kNormScale;
    square = sum_of_squares(scale);
  }
  if (!std::isfinite(square) && guarded) {
    report.skipped = true;
    return 0;
  }
  const double scaled_norm = std::sqrt(square) / options.grad_scale;
  report.norm = scaled_norm / scale;
  double clip = 1;
  if (options.max_norm) {
    // With torch's convention: the norm plus 1e-6.
    const double ratio = *options.max_norm * scale / (scaled_norm + 1e-6 * scale);
    clip = ratio < 1 || std::isnan(ratio) ? ratio : 1;
    report.clipped = clip < 1;
  }
  return clip / options.grad_scale;
}

double Plan::Impl::sum_of_squares(double scale) {
  norm_scale_ = scale;
  run(norm_tasks_, &Impl::sum_norm);
  double total = 0;
  for (const PlannedTensor& tensor : tensors_) {
    if (tensor.gradient == nullptr || tensor.n == 0) continue;
    PairwiseSum sum;
    for (std::uint64_t i = 0; i < chunks_of(tensor.n); ++i) {
      sum.add(norm_sums_[tensor.norm_chunk + i]);
    }
    total += sum.total();
  }
  return total;
}

void Plan::Impl::find_numbers(std::span<const double> alphas, std::span<const std::uint64_t> steps,
                              double factor) {
  block_steps_f32_.clear();
  block_steps_f64_.clear();
  const PlannedTensor* last[2] = {nullptr, nullptr};
  for (PlannedTensor& tensor : tensors_) {
    if (tensor.gradient == nullptr) continue;
    const bool narrow = tensor.dtype == DType::f32;
    const PlannedTensor*& same = last[narrow ? 0 : 1];
    if (same != nullptr && same->group == tensor.group &&
        steps[same->index] == steps[tensor.index]) {
      tensor.numbers = same->numbers;
      continue;
    }
    const Method& method = methods_[tensor.group];
    const StepNumbers numbers =
        step_numbers(method, alphas[tensor.group], steps[tensor.index], factor);
    if (narrow) {
      tensor.numbers = block_steps_f32_.size();
      block_steps_f32_.push_back(make_step<float>(numbers, method));
    } else {
      tensor.numbers = block_steps_f64_.size();
      block_steps_f64_.push_back(make_step<double>(numbers, method));
    }
    same = &tensor;
  }
}

void Plan::Impl::run(const TaskList& list, Work work) {
  struct Job {
    Impl* plan;
    const TaskList* list;
    Work work;
  } job{this, &list, work};
  const auto task = [](void* argument, std::size_t index) {
    const Job& job = *static_cast<const Job*>(argument);
    const DefaultFloatEnvironment environment;
    for (const Piece* piece = job.list->begin(index); piece != job.list->end(index); ++piece) {
      if (job.plan->tensors_[piece->tensor].gradient != nullptr) (job.plan->*job.work)(*piece);
    }
  };
  Executor executor = executor_;
  if (list.elements() < kWorthThreads) executor.threads = 1;
  run_tasks(executor, list.tasks(), task, &job);
}

void Plan::Impl::sum_norm(const Piece& piece) {
  const PlannedTensor& tensor = tensors_[piece.tensor];
  tensor.dtype == DType::f32 ? sum_norm_of<float>(tensor, piece)
                             : sum_norm_of<double>(tensor, piece);
}

template <class T>
void Plan::Impl::sum_norm_of(const PlannedTensor& tensor, const Piece& piece) {
  const auto* g = static_cast<const T*>(tensor.gradient->data);
  const TensorLayout& layout = tensor.g_layout();
  for (std::uint64_t i = piece.begin; i < piece.end; i += kSumChunk) {
    const std::uint64_t n = std::min(kSumChunk, piece.end - i);
    double lanes[kernels::kLanes] = {};
    if (layout.dense()) {
      kernels<T>().add_squares(g + i, n, norm_scale_, lanes);
    } else {
      T gathered[kSumChunk];
      gather(g, layout, i, n, gathered);
      kernels<T>().add_squares(gathered, n, norm_scale_, lanes);
    }
    norm_sums_[tensor.norm_chunk + i / kSumChunk] = kernels::combine(lanes);
  }
}

void Plan::Impl::sum_large(const Piece& piece) {
  const PlannedTensor& tensor = tensors_[piece.tensor];
  tensor.dtype == DType::f32 ? sum_large_of<float>(tensor, piece)
                             : sum_large_of<double>(tensor, piece);
}

template <class T>
void Plan::Impl::sum_large_of(const PlannedTensor& tensor, const Piece& piece) {
  const BlockStep<T>& step = block_steps<T>()[tensor.numbers];
  if (!kernels::needs_sums(step.recipe.estimate)) return;
  const BoundStreams<T> streams = tensor.streams<T>();
  if (!streams.dense) return;
  const std::uint64_t length = tensor.blocks.length(0);
  const std::uint64_t k = piece.begin / length;
  for (std::uint64_t i = piece.begin; i < piece.end; i += kSumChunk) {
    kernels::Sums sums;
    step.kernels->add_sums[step.recipe.index()](step.coefficients, streams.base.block_from(i),
                                                std::min(kSumChunk, piece.end - i), 1.0, sums);
    const std::uint64_t chunk = (i - k * length) / kSumChunk;
    large_sums_[tensor.large_chunk + k * chunks_of(length) + chunk] = {
        kernels::combine(sums.a), kernels::combine(sums.b), kernels::combine(sums.u)};
  }
}

void Plan::Impl::find_large_moves() {
  for (const PlannedTensor& tensor : tensors_) {
    if (tensor.gradient == nullptr || !tensor.large) continue;
    tensor.dtype == DType::f32 ? find_large_moves_of<float>(tensor)
                               : find_large_moves_of<double>(tensor);
  }
}

template <class T>
void Plan::Impl::find_large_moves_of(const PlannedTensor& tensor) {
  const BoundStreams<T> streams = tensor.streams<T>();
  if (!streams.dense) return;
  const std::uint64_t length = tensor.blocks.length(0);
  const auto at = [](auto* pointer, std::uint64_t k) {
    return pointer == nullptr ? nullptr : pointer + k;
  };
  for (std::uint64_t k = 0; k < tensor.blocks.count(); ++k) {
    const std::span<const BlockSums> chunks(
        large_sums_.data() + tensor.large_chunk + k * chunks_of(length), chunks_of(length));
    large_moves<T>()[tensor.first_move + k] = large_block_move<T>(
        block_steps<T>()[tensor.numbers], streams.base.block_from(k * length), length, chunks,
        at(streams.base.v, k), at(streams.base.tap_v, k), at(streams.base.oracle, k));
  }
}

void Plan::Impl::step(const Piece& piece) {
  const PlannedTensor& tensor = tensors_[piece.tensor];
  tensor.dtype == DType::f32 ? step_of<float>(tensor, piece) : step_of<double>(tensor, piece);
}

template <class T>
void Plan::Impl::step_of(const PlannedTensor& tensor, const Piece& piece) {
  if (tensor.blocks.kind() == BlockShape::Kind::coordinate) {
    step_coordinates<T>(tensor, piece);
    return;
  }
  const BlockStep<T>& step = block_steps<T>()[tensor.numbers];
  const BoundStreams<T> streams = tensor.streams<T>();
  const std::uint64_t length = tensor.blocks.length(0);
  if (tensor.large && streams.dense) {
    for (std::uint64_t i = piece.begin; i < piece.end;) {
      const std::uint64_t k = i / length;
      const std::uint64_t end = std::min(piece.end, (k + 1) * length);
      apply_move(step, large_moves<T>()[tensor.first_move + k], streams.base.block_from(i),
                 end - i);
      i = end;
    }
  } else if (tensor.large) {
    // The gradient of this step is strided: whoever holds a block's first element takes it whole.
    const std::uint64_t first = (piece.begin + length - 1) / length;
    const std::uint64_t last = (piece.end + length - 1) / length;
    step_gathered_blocks(step, tensor.blocks, streams, first, last);
  } else if (tensor.blocks.kind() == BlockShape::Kind::contiguous && streams.dense) {
    step_dense_blocks(step, tensor.blocks, streams, piece.begin, piece.end);
  } else {
    step_gathered_blocks(step, tensor.blocks, streams, piece.begin, piece.end);
  }
}

template <class T>
void Plan::Impl::step_coordinates(const PlannedTensor& tensor, const Piece& piece) {
  const BlockStep<T>& step = block_steps<T>()[tensor.numbers];
  const BoundStreams<T> streams = tensor.streams<T>();
  const auto kernel = step.kernels->coordinate[step.recipe.index()];
  if (streams.dense) {
    kernel(step.coefficients, streams.base.from(piece.begin), piece.end - piece.begin);
    return;
  }
  constexpr std::uint64_t kTile = 512;
  T x[kTile];
  T g[kTile];
  T m[kTile];
  T u[kTile];
  for (std::uint64_t i = piece.begin; i < piece.end; i += kTile) {
    const std::uint64_t n = std::min(kTile, piece.end - i);
    const auto& base = streams.base;
    kernels::Streams<T> tile = base.from(i);
    gather(base.x, *streams.x, i, n, x);
    gather(base.g, *streams.g, i, n, g);
    tile.x = x;
    tile.g = g;
    if (base.m != nullptr) {
      gather(base.m, *streams.m, i, n, m);
      tile.m = m;
    }
    if (base.u != nullptr) {
      gather(base.u, *streams.u, i, n, u);
      tile.u = u;
    }
    kernel(step.coefficients, tile, n);
    scatter(x, *streams.x, i, n, base.x);
    if (base.m != nullptr) scatter(m, *streams.m, i, n, base.m);
    if (base.u != nullptr) scatter(u, *streams.u, i, n, base.u);
  }
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
