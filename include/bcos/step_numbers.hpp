#pragma once

#include <cstdint>

#include "bcos/export.hpp"
#include "bcos/method.hpp"

namespace bcos {

/// A: what an estimator remembers.
enum class Old : std::uint8_t {
  nothing,
  m_square,  ///< |m|^2 of the momentum before the step
  v,         ///< the stored v
};

/// B: what a step adds to it.
enum class New : std::uint8_t {
  d_square,
  g_square,
  g_plus_beta_m_square,  ///< |g + beta m|^2 with the momentum before the step
  one,                   ///< the constant estimator: v = q
  given,                 ///< the oracle: v is the caller's
};

/// What a step needs of a method besides memory, in float64. Whoever computes a step (the engine,
/// an adapter on another device) computes it from these:
///
///   g = factor gradient (+ lambda x if coupled)
///   m' = beta m + (1 - beta) g,   d = m' with momentum, else g
///   v = p A + q B
///   x' = x - (delta x + gamma d),   gamma by the method's rule from alpha, v, eps and eps_root;
///                                   0 / 0 is 0
struct StepNumbers {
  double factor = 1;  ///< on the gradient
  double alpha = 0;
  double delta = 0;  ///< alpha lambda under decoupled decay
  double beta = 0;
  Old a = Old::nothing;
  New b = New::d_square;
  double p = 0;
  double q = 1;
  double eps = 0;
  double eps_root = 0;
  double lambda = 0;       ///< of coupled decay
  bool sqrt_gain = false;  ///< gamma times the root of the block's size
  bool coupled = false;
  /// A state that is not read counts as zero: before the first step, and where its weight is 0.
  bool reads_m = false;
  bool reads_v = false;
  bool reads_u = false;
  bool unstarted = false;             ///< this is the parameter's first step
  bool starts_from_gradient = false;  ///< states that are zero begin as this gradient, v as |g|^2
  bool starts_from_raw = false;       ///< ... before lambda x is added
};

/// A step cuts |d|/sqrt(v) here. Usual numbers keep it far below (amplification_bound); states that
/// do not belong together (an Adam v far too small for its m) would give infinite steps.
inline constexpr double kMostAmplified = 1e20;

/// The numbers of step t (the steps that the parameter has taken before) at this alpha.
/// `method` is valid.
BCOS_API StepNumbers step_numbers(const Method& method, double alpha, std::uint64_t t,
                                  double factor);

}  // namespace bcos
