#pragma once

#include <cmath>
#include <cstdint>

#include "bcos/method.hpp"
#include "bcos/step_numbers.hpp"
#include "engine/kernels/kernels.hpp"

namespace bcos {

/// The loop that computes a method.
kernels::Recipe recipe_of(const Method& method);

/// The numbers of a step, rounded once to the working type, for one-coordinate blocks.
template <class T>
kernels::Coefficients<T> coefficients(const StepNumbers& numbers, StepRule rule);

/// gamma of a block from v and |u|^2, all in float64. `scale`: they belong to d times scale, the
/// result is to be applied to d times scale. 0 where the denominator vanishes.
inline double block_gamma(const StepNumbers& numbers, StepRule rule, double v, double u_square,
                          std::uint64_t block_size, double scale) {
  double numerator = numbers.alpha;
  if (numbers.sqrt_gain) numerator *= std::sqrt(static_cast<double>(block_size));
  double denominator = v + numbers.eps_root * scale * scale;
  if (rule == StepRule::sqrt) denominator = std::sqrt(denominator) + numbers.eps * scale;
  if (rule == StepRule::two_est) numerator *= std::sqrt(u_square);
  return denominator == 0 ? 0 : numerator / denominator;
}

}  // namespace bcos
