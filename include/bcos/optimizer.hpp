#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "bcos/methods.hpp"
#include "bcos/update.hpp"

/// Optimizers for programs without a framework: named parameters, groups, state, files.
///
///   bcos::Optimizer opt(bcos::bcosw_c, {.lambda = 0.1});
///   auto w = opt.add("layer0.weight", weights, {256, 128});   // the caller's floats
///   opt.step(5e-4, {{w, gradient}});
///   opt.save("optimizer.safetensors");
namespace bcos {

struct ParameterId {
  std::size_t index = 0;
};
struct GroupId {
  std::size_t index = 0;
};

/// The gradient of one parameter: dense memory of its dtype and size, or a Gradient in full.
struct ParameterGradient {
  ParameterId parameter;
  Gradient gradient = {};
  std::uint64_t elements = 0;  ///< of a span, checked against the parameter
  DType dtype = DType::f32;
  bool checked = false;  ///< elements and dtype are known

  ParameterGradient(ParameterId id, std::span<const float> values)
      : parameter(id),
        gradient{.data = values.data()},
        elements(values.size()),
        dtype(DType::f32),
        checked(true) {}
  ParameterGradient(ParameterId id, std::span<const double> values)
      : parameter(id),
        gradient{.data = values.data()},
        elements(values.size()),
        dtype(DType::f64),
        checked(true) {}
  ParameterGradient(ParameterId id, const Gradient& full) : parameter(id), gradient(full) {}
};

struct OptimizerOptions {
  // These affect results.
  std::optional<double> max_norm = {};  ///< clip the norm over all gradients of a step
  Guard guard = Guard::propagate;
  // These affect speed alone.
  Executor executor = {};
  std::optional<Target> target = {};
};

struct LoadOptions {
  /// Accept a file whose methods differ in their numbers; the optimizer keeps its own.
  bool other_numbers = false;
};

/// The state of one parameter, as views into the optimizer. Of a parameter with strides, states lie
/// in its order: dense, with strides of their own.
struct ParameterState {
  TensorView m, v, u;       ///< null data where the method keeps none
  std::uint64_t steps = 0;  ///< taken so far
};

/// Not for several threads at once. Names, shapes and strides are copied; the memory of parameters
/// is not: it stays the caller's, and must outlive the optimizer or be said to have moved.
class BCOS_API Optimizer {
 public:
  explicit Optimizer(const Method& method, const MethodOptions& options = {},
                     const OptimizerOptions& optimizer_options = {});
  ~Optimizer();
  Optimizer(Optimizer&&) noexcept;
  Optimizer& operator=(Optimizer&&) noexcept;

  /// Another group with its own method and numbers. The constructor's is group 0.
  GroupId add_group(const Method& method, const MethodOptions& options = {});

  /// A parameter under a name of its own; its state begins at its first gradient. May come later
  /// than the first step. An empty shape means a vector of all elements.
  ParameterId add(std::string name, TensorView x, GroupId group = {});
  ParameterId add(std::string name, std::span<float> x,
                  std::initializer_list<std::int64_t> shape = {}, GroupId group = {});
  ParameterId add(std::string name, std::span<double> x,
                  std::initializer_list<std::int64_t> shape = {}, GroupId group = {});

  /// `x` lies at `data` from now on, in the same dtype, shape and strides; its state stays.
  /// Parameters may move one by one to where others were: that none lies on another is checked by
  /// the next step. Throws for memory that is null, misaligned or the parameter's own state.
  void move(ParameterId x, void* data);

  /// One step with the same alpha for all groups, or one for each. Parameters that are not listed
  /// are skipped. Gradients are divided by grad_scale; a negative one goes uphill.
  ///
  /// alpha is the learning rate: a quarter to a half of AdamW's for bcosw_c, with a warm-up and a
  /// decay (bcos/schedule.hpp). Without noise and at a constant alpha the parameters do not
  /// converge, they hover at a distance of about alpha from the minimum.
  StepReport step(double alpha, std::initializer_list<ParameterGradient> gradients,
                  double grad_scale = 1.0);
  StepReport step(double alpha, std::span<const ParameterGradient> gradients,
                  double grad_scale = 1.0);
  StepReport step(std::span<const double> alphas, std::span<const ParameterGradient> gradients,
                  double grad_scale = 1.0);

  /// Changes the numbers of a group from the next step on.
  void set_numbers(GroupId group, const MethodOptions& options);
  void replace_numbers(GroupId group, const Method& method);  ///< the same, from a whole method
  void set_max_norm(std::optional<double> max_norm);

  const Method& method(GroupId group = {}) const;
  std::size_t groups() const;
  std::size_t parameters() const;
  std::string_view name(ParameterId parameter) const;
  ParameterId find(std::string_view name) const;  ///< throws with the nearest known name
  ParameterState state(ParameterId parameter) const;
  /// To bring state from elsewhere, write it to the views, then say how many steps it has seen.
  void set_steps(ParameterId parameter, std::uint64_t steps);
  std::uint64_t state_bytes() const;    ///< of all states together
  std::uint64_t skipped_steps() const;  ///< steps that the guard refused

  /// One safetensors file with all state (docs/formats.md). load() matches by name, and refuses any
  /// difference of names, shapes, dtypes or methods before anything is changed.
  void save(const std::string& path) const;
  void load(const std::string& path, const LoadOptions& options = {});

  /// Takes over the momentum of a file written by an optimizer with another method (AdamW, BCOS-m,
  /// sign momentum, ...). Every method here must keep momentum and nothing else.
  void convert(const std::string& path);

 private:
  class BCOS_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace bcos
