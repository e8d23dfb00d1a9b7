#include "lab/theory/estimator_moments.hpp"

#include <cmath>
#include <limits>

#include "bcos/methods.hpp"
#include "lab/theory/one_step.hpp"

namespace bcos::lab::theory {

double EstimatorMoments::snr(double eps) const {
  if (variance == 0) return std::numeric_limits<double>::infinity();
  return (mean() + eps) * (mean() + eps) / variance;
}

double EstimatorMoments::phi() const { return d.mean == 0 ? 0 : d.mean / std::sqrt(d.second()); }

EstimatorMoments moments_of(const Method& method, double m, double v, const CentralMoments& g) {
  const double b = method.direction == Direction::momentum ? method.beta : 0;
  const double w = 1 - b;
  const double w3 = w * w * w;
  const double bv = method.beta_v;
  const double wv = 1 - bv;
  const double gap = m * (m - g.mean);
  const double g_var = g.variance_of_square();
  const double g_cov = g.covariance_with_square();
  const CentralMoments d = g.moved(b * m, w);
  switch (method.estimator) {
    case Estimator::instant:
      return {d, 0, d.variance_of_square(), d.covariance_with_square()};
    case Estimator::constant:
      return {d, method.c - d.second(), 0, 0};
    case Estimator::ema_d:
      return {d, bv * (v - d.second()), wv * wv * d.variance_of_square(),
              wv * d.covariance_with_square()};
    case Estimator::ema_g:
      return {d, bv * v + wv * g.second() - d.second(), wv * wv * g_var, wv * w * g_cov};
    case Estimator::cond_full:
      return {d, 2 * b * b * w * gap,
              w * w3 * (4 * b * b * m * m * g.c2 + g_var + 4 * b * m * g_cov),
              w3 * (2 * b * m * g.c2 + g_cov)};
    case Estimator::cond_simple:
      return {d, 2 * b * w * gap, w * w3 * g_var, w3 * g_cov};
    case Estimator::cond_free:
      return {d, bv * m * m + wv * g.second() - d.second(), wv * wv * g_var, wv * w * g_cov};
    case Estimator::oracle:
      break;
  }
  return {d, 0, 0, 0};
}

Method corrected(Method method, std::uint64_t t) {
  const auto factor = [&](double beta) {
    const double n = static_cast<double>(t);
    return beta * (1 - std::pow(beta, n)) / (1 - std::pow(beta, n + 1));
  };
  method.beta = factor(method.beta);
  method.beta_v = factor(method.beta_v);
  return method;
}

std::vector<NamedEstimator> estimators(double beta, std::optional<double> beta_v) {
  std::vector<NamedEstimator> rows = {
      {"bcos_c", "cond_full", bcos_c},
      {"bcos_c_simple", "cond_simple", bcos_c_simple},
      {"adams", "cond_free", adams},
      {"bcos_m", "ema_d", bcos_m},
      {"bcos_g", "ema_d, d = g", bcos_g},
      {"adam", "ema_g", method_by_name("adam@paper")},
      {"sign_momentum", "instant", sign_momentum},
      {"sign_sgd", "instant, d = g", sign_sgd},
      {"sgd_momentum", "constant", sgd_momentum},
  };
  for (NamedEstimator& row : rows) {
    row.method = bare(row.method);
    row.method.start = Start::first;
    row.method.beta = beta;
    row.method.beta_v = beta_v.value_or(row.method.beta_v);
  }
  return rows;
}

}  // namespace bcos::lab::theory
