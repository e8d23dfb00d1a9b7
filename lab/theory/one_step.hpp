#pragma once

#include <array>
#include <optional>

#include "bcos/update.hpp"
#include "lab/theory/law.hpp"

/// One step of the engine from states that are given, for what holds conditionally on them.
namespace bcos::theory {

/// What is known when a step begins. One method reads m, another v; what it does not read may be
/// left empty.
struct GivenStates {
  Vector m = {};  ///< m_{t-1}: one number a coordinate
  Vector v = {};  ///< v_{t-1}: one number a block
  std::size_t block_size = 1;
  std::uint64_t taken = 1;  ///< steps already taken, t; 0: the method starts afresh
};

/// The method without decay, which is no part of d and v, and without eps.
Method bare(Method method);

/// Makes the step on many gradients at once, each from the same states.
class OneStep {
 public:
  /// n coordinates a sample.
  OneStep(const Method& method, const GivenStates& states, std::size_t n, std::size_t samples);
  OneStep(const OneStep&) = delete;
  OneStep& operator=(const OneStep&) = delete;

  /// g: n numbers a sample.
  void run(ConstSpan g);

  ConstSpan d() const { return d_; }
  ConstSpan v() const { return v_; }        ///< one a block
  ConstSpan step() const { return step_; }  ///< d / (sqrt(v + eps_root) + eps)

 private:
  static Vector repeated(ConstSpan values, std::size_t size, std::size_t samples);
  TensorView view(Vector& values) const;

  Method method_;
  std::uint64_t taken_;
  std::array<std::int64_t, 2> shape_;
  Vector m_before_, v_before_;
  Vector x_, g_, m_, v_state_;
  Vector d_, v_, step_;
  std::optional<Plan> plan_;
};

/// E_t of y = d / (sqrt(v + eps_root) + eps) and of y^2, by quadrature over the engine's steps.
struct ExpectedStep {
  double mean = 0;
  double square = 0;
};
/// Of one coordinate.
ExpectedStep expected_step(const Method& method, const GivenStates& states, const Law& law);

}  // namespace bcos::theory
