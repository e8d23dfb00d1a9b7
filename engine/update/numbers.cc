#include <cmath>
#include <limits>

#include "engine/error.hpp"
#include "engine/method/estimators.hpp"
#include "engine/update/rounded.hpp"

namespace bcos {
namespace {

/// 1 - beta^j by repeated squaring, on sums of positive terms: no cancellation, and the same bits
/// on every machine, which a library's log and expm1 do not promise.
double one_minus_power(double beta, std::uint64_t j) {
  double missing = 0;  // 1 - beta^k
  double power = 1;    // beta^k, k the leading bits of j
  for (int bit = std::bit_width(j) - 1; bit >= 0; --bit) {
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

}  // namespace

StepNumbers step_numbers(const Method& method, double alpha, std::uint64_t t, double factor) {
  const EstimatorRow& row = row_of(method.estimator);
  StepNumbers n;
  n.factor = factor;
  n.alpha = alpha;
  n.a = row.a;
  // Without momentum d is g: what averages |g|^2 averages |d|^2.
  const bool momentum = method.direction == Direction::momentum;
  n.b = !momentum && row.b == New::g_square ? New::d_square : row.b;
  n.eps = method.eps;
  n.eps_root = method.eps_root;
  n.sqrt_gain = method.block_gain == BlockGain::sqrt;
  n.coupled = method.decay == Decay::coupled && method.lambda != 0;
  n.lambda = n.coupled ? method.lambda : 0;
  if (method.decay == Decay::decoupled) n.delta = alpha * method.lambda;

  double beta = method.beta;
  double beta_v = method.beta_v;
  n.unstarted = t == 0;
  if (method.start == Start::zero_corrected) {
    beta = corrected(beta, t);
    beta_v = corrected(beta_v, t);
  } else if (method.start == Start::first) {
    n.starts_from_raw = n.coupled && method.coupled_start == CoupledStart::raw;
    n.starts_from_gradient =
        method.init_on_first_nonzero || (t == 0 && (n.starts_from_raw || !row.repeats_equals()));
    if (t == 0 && !n.starts_from_gradient) {
      // States that begin as g and then average in g are g: as if nothing were remembered.
      beta = 0;
      beta_v = 0;
    }
  }
  const Weights weights = row.weights(beta, beta_v, method.c);
  n.beta = beta;
  n.p = weights.p;
  n.q = weights.q;
  // Whether a state starts now can be seen from the state alone.
  const auto counts = [&](bool has_weight) {
    return !n.unstarted && (has_weight || n.starts_from_gradient);
  };
  const bool m_counts_in_v = (n.a == Old::m_square && n.p != 0) || fresh_parts(n.b, beta).m != 0;
  n.reads_m = momentum && counts(beta != 0 || m_counts_in_v);
  n.reads_v = n.a == Old::v && counts(n.p != 0);
  n.reads_u = method.rule == StepRule::two_est && counts(beta != 0);
  return n;
}

void check_range(const StepNumbers& n, StepRule rule, DType dtype, std::string_view label) {
  struct Named {
    std::string_view name;
    double value;
  };
  const Named all[] = {{"alpha", n.alpha},
                       {"alpha lambda", n.delta},
                       {"lambda", n.lambda},
                       {"eps", n.eps},
                       {"eps_root", n.eps_root},
                       {"the factor of clipping and 1 / grad_scale", n.factor},
                       {"alpha / sqrt(c)", n.b == New::one ? gamma_of(n, rule, n.q, 1, 1, 1) : 0}};
  const double most =
      dtype == DType::f32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  for (const Named& number : all) {
    if (std::abs(number.value) > most) {
      throw fail("update", "expected {} of {} within the range of {} but received {}", number.name,
                 label, name(dtype), number.value);
    }
  }
}

}  // namespace bcos
