#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "bcos/executor.hpp"
#include "bcos/method.hpp"
#include "bcos/target.hpp"
#include "bcos/tensor.hpp"

/// One step of a method on a whole list of tensors. State lives where the caller keeps it.
///
///   Plan plan(methods, parameters);                    // looks at shapes and addresses, allocates
///   plan.update(gradients, alphas, steps, options);    // allocates nothing
namespace bcos {

class Backend;

/// A parameter and its state. x, m, v and u have one dtype; m and u have the shape of x, v has one
/// element per block (block_count) and is dense; for one-coordinate blocks v may have the shape of
/// x and strides as well. States that a method does not keep stay null. State need not be
/// initialised: a parameter whose step counter is 0 starts afresh.
struct Parameter {
  TensorView x;
  TensorView m = {};
  TensorView v = {};
  TensorView u = {};
  std::size_t group = 0;       ///< index into the plan's methods
  std::string_view name = {};  ///< what messages call it; none: its place in the list
  std::size_t device = 0;      ///< 0: memory of the host; d > 0: PlanOptions::backends[d - 1]
};

/// What the caller wants to see of a step besides the new x; each may be null.
/// g, d, update: as many elements as x, row-major and dense; v: one per block, as the rule uses it
/// before eps_root. They overlap neither each other nor anything that the step reads or writes.
struct Tap {
  void* g = nullptr;       ///< effective gradient: scaled, clipped, with lambda x if coupled
  void* d = nullptr;       ///< direction
  void* v = nullptr;       ///< estimate
  void* update = nullptr;  ///< gamma d
};

/// What one parameter gets in one step. That `data` has the dtype and the size of x is for the
/// caller to see to (Optimizer, ParameterGradient and the C interface check it where they are
/// told).
struct Gradient {
  const void* data = nullptr;    ///< dtype and shape of x; null: the parameter does not step
  Dims strides = {};             ///< as in TensorView
  const void* oracle = nullptr;  ///< E|d|^2, one per block, dtype of x: estimator `oracle` alone
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
  std::uint64_t elements = 0;  ///< weights: of all parameters that took the step
  std::uint64_t bytes = 0;     ///< read and written by the update itself
  std::uint64_t missing = 0;   ///< parameters without a gradient
  std::optional<double> norm;  ///< of all gradients before clipping; with max_norm or a guard
  bool clipped = false;
  bool skipped = false;          ///< the guard found a non-finite gradient: nothing was changed
  bool decay_above_one = false;  ///< alpha lambda > 1 in some group: outside the theory
};

struct PlanOptions {
  Executor executor = {};               ///< default: the library's pool
  std::optional<Target> target = {};    ///< default: default_target()
  std::vector<Backend*> backends = {};  ///< of other memory than the host's; they outlive the plan
};

/// A list of parameters that are stepped together. One thread at a time uses a plan. The plan
/// copies methods, names, shapes and strides; it keeps the addresses of x and states, whose memory
/// outlives it.
class BCOS_API Plan {
 public:
  explicit Plan(const PlanOptions& options = {});
  /// With these groups and parameters.
  Plan(std::span<const Method> groups, std::span<const Parameter> parameters,
       const PlanOptions& options = {});
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  /// Returns the index of the new group or parameter. All that does not depend on gradients is
  /// checked here. On Error the plan is as it was.
  std::size_t add_group(const Method& method);
  std::size_t add(const Parameter& parameter);
  /// A parameter's x and states lie elsewhere now: dtype, shape and group as before. On Error it
  /// stays where it was. That it lies apart from other parameters is checked by the next update or
  /// add, since parameters that move one by one may pass through each other's old places.
  void move(std::size_t parameter, const Parameter& to);

  std::size_t groups() const;
  std::size_t parameters() const;
  const Method& method(std::size_t group) const;
  /// What was added; its views of shapes and strides stay valid until the parameter moves.
  Parameter parameter(std::size_t index) const;

  /// One step: gradients[i] and steps[i] belong to parameter i, alphas[k] to group k. steps[i]
  /// counts the steps parameter i has taken and is advanced here. A parameter that has not started
  /// and gets an all-zero gradient at alpha = 0 stays unstarted. Allocates nothing. On Error
  /// nothing was changed.
  StepReport update(std::span<const Gradient> gradients, std::span<const double> alphas,
                    std::span<std::uint64_t> steps, const StepOptions& options = {});

  /// New numbers (beta, eps, lambda, ...) for a group; everything else must stay as planned.
  void set_numbers(std::size_t group, const Method& method);

  Target target() const;

 private:
  class BCOS_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

/// Makes a plan, steps it once and forgets it.
BCOS_API StepReport update(std::span<const Method> groups, std::span<const Parameter> parameters,
                           std::span<const Gradient> gradients, std::span<const double> alphas,
                           std::span<std::uint64_t> steps, const StepOptions& options = {},
                           const PlanOptions& plan_options = {});

}  // namespace bcos
