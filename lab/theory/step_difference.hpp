#pragma once

#include <string>
#include <vector>

#include "lab/theory/estimator_moments.hpp"
#include "lab/theory/states.hpp"

/// The difference of the practical and the conceptual step, E_t[d / sqrt(v + eps)] - phi, and what
/// bounds it. eps is the one under the root.
namespace bcos::lab::theory {

/// max{ (1 - tau)^{-1/2} - 1, 1 - (1 + tau + 2 eps / E d^2)^{-1/2} }: times sqrt(rho), the most
/// that a bias |E v - E d^2| <= tau E d^2 + eps changes a step whose denominator has this eps too.
double bias_bound(double tau, double eps_over_second);

/// |phi - E d / sqrt(E v + eps)|, exactly.
double bias_part(const EstimatorMoments& moments, double eps);

/// E d / sqrt(E z) and -Cov(d, v) / (2 (E z)^{3/2}), z = v + eps: E[d / sqrt(z)] up to C / SNR(z)
/// for every method with |d| <= C sqrt(v).
struct Expansion {
  double first = 0;
  double covariance = 0;
};
Expansion expansion_of(const EstimatorMoments& moments, double eps);

/// The most that the randomness of v changes a step with |d| <= C sqrt(v): the smaller one of
/// |Cov| / (2 (E z)^{3/2}) + C / SNR(z) and C / sqrt(SNR(z)).
double variance_part(const EstimatorMoments& moments, double eps, double c);

/// A method and a law of its gradient at which the ratio lemma is all but attained: with
/// probability `rare` the step is -C, and otherwise so long that it alone makes up E v.
struct NearlyAttained {
  std::string id;
  Method method;
  States states;
  Law law;
  double c = 0;
};
/// One for every method with a finite C.
std::vector<NearlyAttained> nearly_attained(double rare);

}  // namespace bcos::lab::theory
