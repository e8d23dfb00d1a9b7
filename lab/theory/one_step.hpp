#pragma once

#include <array>
#include <optional>

#include "bcos/update.hpp"
#include "lab/theory/law.hpp"
#include "lab/theory/states.hpp"

/// One step of the engine from states that are given, for what holds conditionally on them.
namespace bcos::lab::theory {

/// The method without decay, which is no part of d and v, and without eps.
Method bare(Method method);

/// Makes the step on many gradients at once, each from the same states.
class OneStep {
 public:
  /// n coordinates a sample, in blocks that follow each other. States that the method does not read
  /// may be empty.
  OneStep(const Method& method, const States& states, std::size_t n, std::size_t samples,
          std::size_t block_size = 1);
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
ExpectedStep expected_step(const Method& method, const States& states, const Law& law);

}  // namespace bcos::lab::theory
