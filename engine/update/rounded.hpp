#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "bcos/tensor.hpp"
#include "engine/kernels/kernels.hpp"

namespace bcos {

/// The stepsize of a block from v and |u|^2, in float64. `scale`: v and u belong to scale d, and so
/// does the result. 0 where the denominator vanishes.
inline double gamma_of(const StepNumbers& n, StepRule rule, double v, double u_square,
                       std::uint64_t block_size, double scale) {
  double numerator = n.alpha;
  if (n.sqrt_gain) numerator *= std::sqrt(static_cast<double>(block_size));
  double denominator = v + n.eps_root * scale * scale;
  if (rule == StepRule::sqrt) denominator = std::sqrt(denominator) + n.eps * scale;
  if (rule == StepRule::two_est) numerator *= std::sqrt(u_square);
  return denominator == 0 ? 0 : numerator / denominator;
}

/// Throws if the working type cannot hold one of the numbers. `label`: whose they are.
void check_range(const StepNumbers& n, StepRule rule, DType dtype, std::string_view label);

/// Where squares, as they are, neither vanish next to the stabilisers nor overflow.
template <class T>
struct SafeRange {
  static constexpr bool kNarrow = sizeof(T) == 4;
  static constexpr T v_low = static_cast<T>(kNarrow ? 1e-30F : 1e-280);
  static constexpr T v_high = static_cast<T>(kNarrow ? 1e37F : 1e300);
  static constexpr T enough_eps = static_cast<T>(kNarrow ? 1e-11F : 1e-135);
};

template <class T>
kernels::Coefficients<T> coefficients(const StepNumbers& n, kernels::Recipe recipe) {
  using Range = SafeRange<T>;
  kernels::Coefficients<T> c;
  c.factor = static_cast<T>(n.factor);
  if (n.factor != 0 && std::abs(n.factor) < std::numeric_limits<T>::min()) {
    // As two numbers that the type holds to the last digit.
    int exponent = 0;
    const double fraction = std::frexp(n.factor, &exponent);
    c.factor = static_cast<T>(std::ldexp(fraction, exponent / 2));
    c.second_factor = static_cast<T>(std::ldexp(1.0, exponent - exponent / 2));
  }
  c.lambda = static_cast<T>(n.lambda);
  c.delta = static_cast<T>(n.delta);
  c.alpha = static_cast<T>(n.alpha);
  c.beta = static_cast<T>(n.beta);
  c.fresh = static_cast<T>(1 - n.beta);
  c.p = static_cast<T>(n.p);
  c.q = static_cast<T>(n.q);
  c.eps = static_cast<T>(n.eps);
  c.eps_root = static_cast<T>(n.eps_root);
  c.floor = std::max(c.eps, std::sqrt(c.eps_root));
  const bool stabilised = c.eps_root >= Range::v_low || c.eps >= Range::enough_eps;
  c.v_low = stabilised ? T{0} : Range::v_low;
  c.v_high = Range::v_high;
  const double most = kMostAmplified * std::max(static_cast<double>(c.floor),
                                                std::sqrt(static_cast<double>(c.v_low)));
  c.d_high = static_cast<T>(std::min<double>(most, std::numeric_limits<T>::max()));
  if (n.b == New::one) c.gamma = static_cast<T>(gamma_of(n, recipe.rule, n.q, 1, 1, 1));
  c.beta_wide = n.beta;
  c.coupled = n.coupled;
  c.reads_m = n.reads_m || !recipe.momentum;
  c.reads_v = n.reads_v || !recipe.keeps_v();
  c.reads_u = n.reads_u || !recipe.keeps_u();
  c.starts_from_gradient = n.starts_from_gradient;
  c.starts_from_raw = n.starts_from_raw;
  return c;
}

/// The loop that computes a method.
inline kernels::Recipe recipe_of(const StepNumbers& n, const Method& method) {
  return {method.direction == Direction::momentum, n.a, n.b, method.rule};
}

/// The numbers of a step as kernels take them.
template <class T>
struct Rounded {
  StepNumbers numbers;
  kernels::Recipe recipe;
  kernels::Coefficients<T> c;        ///< of coordinates, and of blocks that start at this step
  kernels::Coefficients<T> started;  ///< of blocks that have started

  Rounded(const StepNumbers& n, const Method& method)
      : numbers(n), recipe(recipe_of(n, method)), c(coefficients<T>(n, recipe)), started(c) {
    started.starts_from_gradient = false;
  }
};

}  // namespace bcos
