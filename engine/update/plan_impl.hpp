#pragma once

#include <algorithm>
#include <type_traits>

#include "bcos/update.hpp"
#include "engine/error.hpp"
#include "engine/update/block_walk.hpp"
#include "engine/update/coefficients.hpp"
#include "engine/update/pieces.hpp"
#include "engine/update/planned_tensor.hpp"

namespace bcos {

/// Fewer elements than this are not worth waking other threads for.
inline constexpr std::uint64_t kWorthThreads = 4 * TaskList::kTaskElements;

/// Blocks longer than this are summed and applied by several tasks.
inline constexpr std::uint64_t kLargeBlock = 2 * TaskList::kTaskElements;

inline std::uint64_t chunks_of(std::uint64_t n) { return (n + kSumChunk - 1) / kSumChunk; }

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
  std::uint64_t bytes_of_step() const;
  void leave_unstarted(std::span<const double> alphas, std::span<const std::uint64_t> steps,
                       StepReport& report);
  double gradient_factor(const StepOptions& options, StepReport& report);
  double sum_of_squares(double scale);
  void find_numbers(std::span<const double> alphas, std::span<const std::uint64_t> steps,
                    double factor);

  void run(const TaskList& list, Work work);
  void run_pieces(std::span<const Piece> pieces, Work work);
  void sum_norm(const Piece& piece);
  void sum_large(const Piece& piece);
  void find_large_moves();
  void step(const Piece& piece);

  template <class T>
  void sum_norm_of(const Piece& piece);
  template <class T>
  void step_ordinary(const TensorHead& head, const Piece& piece);
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
  std::vector<TensorHead> heads_;
  std::vector<PlannedTensor> tensors_;
  std::uint64_t all_bytes_ = 0;
  std::span<const Gradient> bound_;

  TaskList step_tasks_;
  TaskList norm_tasks_;
  TaskList large_tasks_;
  std::vector<double> norm_sums_;
  std::vector<std::uint64_t> first_norm_chunk_;
  double norm_scale_ = 1;
  std::vector<BlockSums> large_sums_;
  std::vector<BlockMove<float>> large_moves_f32_;
  std::vector<BlockMove<double>> large_moves_f64_;
  std::vector<BlockStep<float>> block_steps_f32_;
  std::vector<BlockStep<double>> block_steps_f64_;
};

}  // namespace bcos
