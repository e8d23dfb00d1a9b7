#include "lab/theory/step_difference.hpp"

#include <algorithm>
#include <cmath>

namespace bcos::lab::theory {

double bias_bound(double tau, double eps_over_second) {
  return std::max(1 / std::sqrt(1 - tau) - 1, 1 - 1 / std::sqrt(1 + tau + 2 * eps_over_second));
}

double bias_part(const EstimatorMoments& moments, double eps) {
  return std::abs(moments.phi() - second_order(moments, eps).first);
}

double variance_part(const EstimatorMoments& moments, double eps, double c) {
  return c / std::sqrt(moments.snr(eps));
}

SecondOrder second_order(const EstimatorMoments& moments, double eps) {
  const double z = moments.mean() + eps;
  const double root = std::sqrt(z);
  return {moments.d.mean / root, -moments.covariance / (2 * z * root),
          3 * moments.d.mean * moments.variance / (8 * z * z * root)};
}

double second_order_rest(const EstimatorMoments& moments, double eps) {
  const double root = std::sqrt(moments.mean() + eps);
  const double r_y = std::sqrt(moments.d.c2) / root;
  const double r_z = 1 / std::sqrt(moments.snr(eps));
  return r_y * r_z * r_z + std::abs(moments.d.mean) / root * r_z * r_z * r_z;
}

}  // namespace bcos::lab::theory
