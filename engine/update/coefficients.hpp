#pragma once

#include <cstdint>

#include "bcos/method.hpp"
#include "engine/kernels/kernels.hpp"

namespace bcos {

/// The loop that computes a method.
kernels::Recipe recipe_of(const Method& method);

/// What a step needs of a method besides memory, in float64.
struct StepNumbers {
  double factor = 1;  ///< on the gradient
  double alpha = 0;
  double keep = 1;
  double beta = 0;
  double p = 0;
  double q = 1;
  double eps = 0;
  double eps_root = 0;
  double lambda = 0;
  double c = 1;
  bool sqrt_gain = false;
  bool coupled = false;
  bool unstarted = false;
  bool adopt = false;
  bool adopt_raw = false;
};

/// The numbers of step t (steps the parameter has taken before) at this alpha.
StepNumbers step_numbers(const Method& method, double alpha, std::uint64_t t, double factor);

/// The same, rounded once to the working type, for one-coordinate blocks.
template <class T>
kernels::Coefficients<T> coefficients(const StepNumbers& numbers, StepRule rule);

/// gamma of a block from v, both in float64. `scale`: v and |u| belong to d times scale, the
/// result is to be applied to d times scale. 0 where the denominator vanishes.
double block_gamma(const StepNumbers& numbers, StepRule rule, double v, double u_norm,
                   std::uint64_t block_size, double scale);

}  // namespace bcos
