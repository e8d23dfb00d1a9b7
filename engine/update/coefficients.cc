#include "engine/update/coefficients.hpp"

#include <cmath>
#include <limits>

namespace bcos {
namespace {

using kernels::Estimate;

/// 1 - beta^j by repeated squaring, on sums of positive terms: no cancellation, and the same bits
/// on every machine, which a library's log and expm1 do not promise.
double one_minus_power(double beta, std::uint64_t j) {
  double missing = 0;  // 1 - beta^k
  double power = 1;    // beta^k, k the leading bits of j
  for (int bit = 63; bit >= 0; --bit) {
    missing = missing * (1 + power);
    power = power * power;
    if ((j >> bit & 1) != 0) {
      missing = missing + power * (1 - beta);
      power = power * beta;
    }
  }
  return missing;
}

/// Adam's bias correction as a smoothing factor that changes with time, on corrected states.
double corrected(double beta, std::uint64_t t) {
  if (beta == 0 || t == 0) return 0;
  return beta * one_minus_power(beta, t) / one_minus_power(beta, t + 1);
}

struct Weights {
  double p;
  double q;
};

/// v = p A + q B (kernels.hpp says what A and B are).
Weights weights_of(Estimator estimator, double beta, double beta_v) {
  const double fresh = 1 - beta;
  switch (estimator) {
    case Estimator::ema_d:
    case Estimator::ema_g:
    case Estimator::cond_free:
      return {beta_v, 1 - beta_v};
    case Estimator::cond_full:
      return {beta * beta * (2 - beta * beta), fresh * fresh};
    case Estimator::cond_simple:
      return {beta * (2 - beta), fresh * fresh};
    case Estimator::instant:
    case Estimator::constant:
    case Estimator::oracle:
      break;
  }
  return {0, 1};
}

/// Where plain squares neither vanish next to the stabilisers nor overflow.
template <class T>
struct SafeRange;
template <>
struct SafeRange<float> {
  static constexpr float v_low = 1e-30F;
  static constexpr float v_high = 1e37F;
  static constexpr float d_high = 1e18F;
  static constexpr float enough_eps = 1e-11F;
};
template <>
struct SafeRange<double> {
  static constexpr double v_low = 1e-280;
  static constexpr double v_high = 1e300;
  static constexpr double d_high = 1e150;
  static constexpr double enough_eps = 1e-135;
};

}  // namespace

kernels::Recipe recipe_of(const Method& method) {
  const bool momentum = method.direction == Direction::momentum;
  kernels::Recipe recipe{momentum, Estimate::constant, method.rule};
  switch (method.estimator) {
    case Estimator::instant:
      recipe.estimate = Estimate::instant;
      break;
    case Estimator::constant:
      recipe.estimate = Estimate::constant;
      break;
    case Estimator::ema_d:
      recipe.estimate = Estimate::ema_d;
      break;
    case Estimator::ema_g:
      recipe.estimate = momentum ? Estimate::ema_g : Estimate::ema_d;
      break;
    case Estimator::cond_full:
      // At beta = 0 an m of any size counts for nothing, also where a scale makes it infinite.
      recipe.estimate = method.beta == 0 ? Estimate::cond_pair : Estimate::cond_full;
      break;
    case Estimator::cond_simple:
    case Estimator::cond_free:
      recipe.estimate = Estimate::cond_pair;
      break;
    case Estimator::oracle:
      recipe.estimate = Estimate::oracle;
      break;
  }
  return recipe;
}

StepNumbers step_numbers(const Method& method, double alpha, std::uint64_t t, double factor) {
  StepNumbers numbers;
  numbers.factor = factor;
  numbers.alpha = alpha;
  numbers.eps = method.eps;
  numbers.eps_root = method.eps_root;
  numbers.c = method.c;
  numbers.sqrt_gain = method.block_gain == BlockGain::sqrt;
  numbers.coupled = method.decay == Decay::coupled && method.lambda != 0;
  numbers.lambda = numbers.coupled ? method.lambda : 0;
  if (method.decay == Decay::decoupled) numbers.delta = alpha * method.lambda;

  double beta = method.beta;
  double beta_v = method.beta_v;
  numbers.unstarted = t == 0;
  if (method.start == Start::zero_corrected) {
    beta = corrected(beta, t);
    beta_v = corrected(beta_v, t);
  } else if (method.start == Start::first) {
    numbers.adopt_raw = numbers.coupled && method.coupled_start == CoupledStart::raw;
    if (method.init_on_first_nonzero) {
      numbers.adopt = true;
    } else if (t == 0 && numbers.adopt_raw) {
      numbers.adopt = true;
    } else if (t == 0) {
      // States that begin from g and then average in g are g: as if nothing were remembered.
      beta = 0;
      beta_v = 0;
    }
  }
  const Weights weights = weights_of(method.estimator, beta, beta_v);
  numbers.beta = beta;
  numbers.p = method.estimator == Estimator::constant ? method.c : weights.p;
  numbers.q = weights.q;
  return numbers;
}

template <class T>
kernels::Coefficients<T> coefficients(const StepNumbers& numbers, StepRule rule) {
  using Range = SafeRange<T>;
  kernels::Coefficients<T> c;
  c.factor = static_cast<T>(numbers.factor);
  c.lambda = static_cast<T>(numbers.lambda);
  c.delta = static_cast<T>(numbers.delta);
  c.alpha = static_cast<T>(numbers.alpha);
  c.beta = static_cast<T>(numbers.beta);
  c.fresh = static_cast<T>(1 - numbers.beta);
  c.p = static_cast<T>(numbers.p);
  c.q = static_cast<T>(numbers.q);
  c.eps = static_cast<T>(numbers.eps);
  c.eps_root = static_cast<T>(numbers.eps_root);
  c.root_of_eps_root = std::sqrt(c.eps_root);
  const bool stabilised = c.eps_root >= Range::v_low || c.eps >= Range::enough_eps;
  c.v_low = stabilised ? T{0} : Range::v_low;
  c.v_high = Range::v_high;
  c.d_high = Range::d_high;
  c.gamma = static_cast<T>(block_gamma(numbers, rule, numbers.c, 1, 1, 1));
  c.beta_wide = numbers.beta;
  c.coupled = numbers.coupled;
  c.unstarted = numbers.unstarted;
  c.adopt = numbers.adopt;
  c.adopt_raw = numbers.adopt_raw;
  return c;
}

template kernels::Coefficients<float> coefficients(const StepNumbers&, StepRule);
template kernels::Coefficients<double> coefficients(const StepNumbers&, StepRule);

}  // namespace bcos
