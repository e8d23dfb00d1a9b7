#pragma once

#include <optional>
#include <vector>

#include "bcos/libtorch.h"

namespace bcos::libtorch {

class BCOS::Impl {
 public:
  explicit Impl(BCOS& owner) : owner_(owner) {}

  void step();
  BCOSParamState& state_of(const torch::Tensor& p, const Method& method);
  /// Throws if the state of a parameter is not what its method keeps.
  void check_state(const torch::Tensor& p, const Method& method) const;
  const StepReport& report() const { return report_; }
  void forget_plan() { plan_.reset(); }
  void use_engine(bool yes) { engine_ = yes; }

 private:
  static std::unique_ptr<BCOSParamState> fresh_state(const torch::Tensor& p, const Method& method);

  /// A parameter in the step at hand.
  struct Entry {
    torch::Tensor p;
    torch::Tensor gradient;
    BCOSParamState* state;
    std::size_t group;
    bool maximize;
    bool in_engine;
  };

  void collect();
  void step_in_engine(const StepOptions& options);
  void step_in_aten(double factor);
  void make_plan(std::vector<std::intptr_t> places);
  /// The factor on all gradients; sets what the report says of norm and guard.
  double limits(const StepOptions& options);

  BCOS& owner_;
  bool engine_ = true;
  StepReport report_;

  // of the step at hand
  std::vector<Entry> entries_;
  std::vector<Method> methods_;
  std::vector<double> alphas_;
  std::vector<Gradient> gradients_;
  std::vector<std::uint64_t> steps_;

  // kept while parameters and states stay where they are
  std::optional<Plan> plan_;
  std::vector<std::intptr_t> places_;  ///< addresses, sizes and strides
  std::vector<Method> planned_;
};

}  // namespace bcos::libtorch
