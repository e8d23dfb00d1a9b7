#pragma once

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

/// gamma of a block from v, both in float64. `scale`: v and |u| belong to d times scale, the
/// result is to be applied to d times scale. 0 where the denominator vanishes.
double block_gamma(const StepNumbers& numbers, StepRule rule, double v, double u_norm,
                   std::uint64_t block_size, double scale);

}  // namespace bcos
