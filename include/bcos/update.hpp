#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "bcos/executor.hpp"
#include "bcos/method.hpp"
#include "bcos/target.hpp"
#include "bcos/tensor.hpp"

/// One step of a method on a whole list of tensors. State lives where the caller keeps it.
///
///   Plan plan(methods, parameters);                    // looks at shapes and addresses, allocates
///   plan.update(gradients, alphas, steps, options);    // allocates nothing
namespace bcos {

/// A parameter and its state. x, m, v and u have one dtype; m and u have the shape of x, v has one
/// element a block (block_count) and is dense. States a method does not keep stay null.
/// State need not be initialised: a parameter whose step counter is 0 starts afresh.
struct Parameter {
  TensorView x;
  TensorView m = {};
  TensorView v = {};
  TensorView u = {};
  std::size_t group = 0;       ///< index into the plan's methods
  std::string_view name = {};  ///< what messages call it; none: its place in the list
};

/// What the caller wants to see of a step besides the new x; each may be null.
/// g, d, update: as many elements as x, dense; v: one a block, as used in the rule before eps_root.
struct Tap {
  void* g = nullptr;       ///< effective gradient: scaled, clipped, with lambda x if coupled
  void* d = nullptr;       ///< direction
  void* v = nullptr;       ///< estimate
  void* update = nullptr;  ///< gamma d
};

/// What one parameter gets in one step.
struct Gradient {
  const void* data = nullptr;    ///< dtype and shape of x; null: the parameter is skipped wholly
  Dims strides = {};             ///< as in TensorView
  const void* oracle = nullptr;  ///< E|d|^2, one a block, dtype of x: estimator `oracle` alone
  Tap tap = {};
};

/// What to do about NaN and infinite gradients.
enum class Guard {
  propagate,  ///< do not look
  skip,       ///< look at all gradients first; if one is not finite change nothing and report it
  raise,      ///< the same, and throw Error(non_finite)
};

struct StepOptions {
  double grad_scale = 1.0;              ///< gradients are divided by it; negative: go uphill
  std::optional<double> max_norm = {};  ///< clip the norm over all gradients of the call, > 0
  Guard guard = Guard::propagate;
};

struct StepReport {
  std::uint64_t elements = 0;  ///< parameters that moved
  std::uint64_t bytes = 0;     ///< read and written by the update itself
  std::uint64_t missing = 0;   ///< tensors without a gradient
  std::optional<double> norm;  ///< of all gradients before clipping; with max_norm or a guard
  bool clipped = false;
  bool skipped = false;          ///< the guard found a non-finite gradient: nothing was changed
  bool decay_above_one = false;  ///< alpha lambda > 1 in some group: outside the theory
};

struct PlanOptions {
  Executor executor = {};             ///< default: the library's pool
  std::optional<Target> target = {};  ///< default: default_target()
};

class BCOS_API Plan {
 public:
  /// Checks everything that does not depend on the gradients. Throws Error.
  Plan(std::span<const Method> groups, std::span<const Parameter> parameters,
       const PlanOptions& options = {});
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  /// One step: gradients[i] and steps[i] belong to parameter i, alphas[k] to group k. steps[i]
  /// counts the steps parameter i has taken and is advanced here. A parameter that has not started
  /// and gets an all-zero gradient at alpha = 0 stays unstarted. On Error nothing was changed.
  StepReport update(std::span<const Gradient> gradients, std::span<const double> alphas,
                    std::span<std::uint64_t> steps, const StepOptions& options = {});

  /// New numbers (beta, eps, lambda, ...) for a group; everything else must stay as planned.
  void set_numbers(std::size_t group, const Method& method);

  Target target() const;

 private:
  class BCOS_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

/// A plan used once.
BCOS_API StepReport update(std::span<const Method> groups, std::span<const Parameter> parameters,
                           std::span<const Gradient> gradients, std::span<const double> alphas,
                           std::span<std::uint64_t> steps, const StepOptions& options = {},
                           const PlanOptions& plan_options = {});

}  // namespace bcos
