#pragma once

#include <optional>
#include <vector>

#include "bcos/libtorch.h"
#include "libtorch/aten_backend.hpp"

namespace bcos::libtorch {

class BCOS::Impl {
 public:
  explicit Impl(BCOS& owner) : owner_(owner) {}

  void step();
  BCOSParamState& state_of(const torch::Tensor& p, const Method& method);
  /// Throws if the state of a parameter is not what its method keeps.
  void check_state(const torch::Tensor& p, const Method& method) const;
  const StepReport& report() const { return report_; }
  void forget_plan();
  void use_engine(bool yes) { engine_ = yes; }

 private:
  static std::unique_ptr<BCOSParamState> fresh_state(const torch::Tensor& p, const Method& method);

  /// A parameter in the step at hand.
  struct Entry {
    torch::Tensor p;
    torch::Tensor gradient;
    BCOSParamState* state;
    std::size_t group;
    bool in_engine;
  };

  void collect();
  void follow_memory();
  static Parameter parameter_of(const Entry& entry);
  static Gradient gradient_of(const Entry& entry);

  BCOS& owner_;
  bool engine_ = true;
  StepReport report_;

  // of the step at hand
  std::vector<Entry> entries_;
  std::uint64_t stateless_ = 0;  ///< parameters that never had a gradient
  std::vector<Method> methods_;
  std::vector<double> alphas_;
  std::vector<Gradient> gradients_;
  std::vector<std::uint64_t> steps_;

  // kept while parameters and states stay where they are
  AtenBackend aten_;
  std::optional<Plan> plan_;
};

}  // namespace bcos::libtorch
