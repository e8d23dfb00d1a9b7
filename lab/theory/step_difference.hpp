#pragma once

#include "lab/theory/estimator_moments.hpp"

/// The difference of the practical and the conceptual step, E_t[d / sqrt(v + eps)] - phi, and what
/// bounds it. eps is the one under the root.
namespace bcos::lab::theory {

/// max{ (1 - tau)^{-1/2} - 1, 1 - (1 + tau + 2 eps / E d^2)^{-1/2} }: times sqrt(rho), the most
/// that a bias |E v - E d^2| <= tau E d^2 + eps changes a step whose denominator has this eps too.
double bias_bound(double tau, double eps_over_second);

/// |phi - E d / sqrt(E v + eps)|, exactly.
double bias_part(const EstimatorMoments& moments, double eps);

/// C / sqrt(SNR(v + eps)): the most that the randomness of v changes a step with |d| <= C sqrt(v).
double variance_part(const EstimatorMoments& moments, double eps, double c);

/// E[d / sqrt(v + eps)] to second order: E d / sqrt(E z) - Cov / (2 E z^{3/2}) + 3 E d Var /
/// (8 E z^{5/2}), z = v + eps.
struct SecondOrder {
  double first = 0;
  double covariance = 0;
  double variance = 0;
  double sum() const { return first + covariance + variance; }
};
SecondOrder second_order(const EstimatorMoments& moments, double eps);
/// r_Y r_Z^2 + |E d| / sqrt(E z) r_Z^3: what is left out, up to a factor, where SNR(z) >= 20.
double second_order_rest(const EstimatorMoments& moments, double eps);

}  // namespace bcos::lab::theory
