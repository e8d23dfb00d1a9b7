#include "lab/theory/step_difference.hpp"

#include <algorithm>
#include <cmath>

#include "lab/theory/one_step.hpp"

namespace bcos::lab::theory {
namespace {

/// States from which the gradient `low` makes d / sqrt(v) = -C, and small beside that of `high`.
struct Worst {
  States states;
  double low = 0;
};

Worst worst_of(const Method& method) {
  constexpr double kSmall = 1e-6;
  const double b = method.beta;
  const double bv = method.beta_v;
  switch (method.estimator) {
    case Estimator::cond_full:
    case Estimator::cond_simple:
      return {{.m = {-1}, .v = {0}}, -(2 - b) / (1 - b)};  // m_t = 2 m_{t-1}
    case Estimator::cond_free:
      return {{.m = {-1}, .v = {0}}, -(1 - b) * bv / (b * (1 - bv))};
    case Estimator::ema_g: {
      // Cauchy and Schwarz: gradients in proportion to the ratio of their weights in m and in v.
      constexpr int kLast = 400;
      States states{.m = {0}, .v = {0}};
      for (int j = kLast; j >= 1; --j) {
        const double g = -std::pow(b / bv, j);
        states.m[0] = b * states.m[0] + (1 - b) * g;
        states.v[0] = bv * states.v[0] + (1 - bv) * g * g;
      }
      return {states, -1};
    }
    default:
      return {{.m = {0}, .v = {0}}, -kSmall};
  }
}

}  // namespace

double bias_bound(double tau, double eps_over_second) {
  return std::max(1 / std::sqrt(1 - tau) - 1, 1 - 1 / std::sqrt(1 + tau + 2 * eps_over_second));
}

double bias_part(const EstimatorMoments& moments, double eps) {
  return std::abs(moments.phi() - expansion_of(moments, eps).first);
}

Expansion expansion_of(const EstimatorMoments& moments, double eps) {
  const double z = moments.mean() + eps;
  const double root = std::sqrt(z);
  return {moments.d.mean / root, -moments.covariance / (2 * z * root)};
}

double variance_part(const EstimatorMoments& moments, double eps, double c) {
  const double snr = moments.snr(eps);
  return std::min(std::abs(expansion_of(moments, eps).covariance) + c / snr, c / std::sqrt(snr));
}

std::vector<NearlyAttained> nearly_attained(double rare) {
  constexpr double kLarge = 1e5;
  std::vector<NearlyAttained> all;
  for (const NamedEstimator& row : estimators(0.9)) {
    const auto c = amplification_bound(row.method);
    if (!c) continue;
    const Worst worst = worst_of(row.method);
    all.push_back({row.id, row.method, worst.states, Law::two_points(worst.low, kLarge, rare), *c});
  }
  return all;
}

}  // namespace bcos::lab::theory
