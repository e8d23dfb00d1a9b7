#pragma once

#include <cstdint>

#include "bcos/export.hpp"
#include "bcos/method.hpp"

namespace bcos {

/// What a step needs of a method besides memory, in float64. For adapters that compute elsewhere,
/// on devices that the engine does not know; `update` uses the same.
///
///   g = factor gradient (+ lambda x if coupled),  m' = beta m + (1-beta) g,
///   v = p A + q B, where A is |m|^2 (cond_*) or the old v (ema_*), and B is |d|^2 (instant,
///   ema_d), |g|^2 (ema_g, cond_simple, cond_free) or |g + beta m|^2 (cond_full)
struct StepNumbers {
  double factor = 1;  ///< on the gradient
  double alpha = 0;
  double keep = 1;  ///< 1 - alpha lambda under decoupled decay
  double beta = 0;
  double p = 0;
  double q = 1;
  double eps = 0;
  double eps_root = 0;
  double lambda = 0;  ///< of coupled decay
  double c = 1;       ///< v of the constant estimator
  bool sqrt_gain = false;
  bool coupled = false;
  bool unstarted = false;  ///< states are taken as zero
  bool adopt = false;      ///< zero states begin from this gradient
  bool adopt_raw = false;  ///< ... before lambda x is added
};

/// No |d|/sqrt(v) that is longer is used. C-bounded methods stay below 10; states that do not
/// belong together (an Adam v far too small for its m) would give infinite steps.
inline constexpr double kMostAmplified = 1e20;

/// The numbers of step t (steps the parameter has taken before) at this alpha.
BCOS_API StepNumbers step_numbers(const Method& method, double alpha, std::uint64_t t,
                                  double factor);

}  // namespace bcos
