#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bcos/method.hpp"
#include "lab/theory/law.hpp"

/// Bias and variance of the second-moment estimators, given all that is known before a step.
namespace bcos::lab::theory {

/// Of one coordinate, given m_{t-1} and v_{t-1}, t >= 1.
struct EstimatorMoments {
  CentralMoments d;       ///< of the direction
  double bias = 0;        ///< E_t v - E_t d^2
  double variance = 0;    ///< Var_t(v)
  double covariance = 0;  ///< Cov_t(d, v)

  double mean() const { return d.second() + bias; }  ///< E_t v
  /// E_t[v + eps]^2 / Var_t(v); infinite if v is not random.
  double snr(double eps = 0) const;
  /// E_t d / sqrt(E_t d^2), the step of the conceptual method.
  double phi() const;
};

/// The table: what the estimator of a method gives from states m and v when g has these moments.
/// The factors are the plain ones; `corrected` gives those of a bias correction.
EstimatorMoments moments_of(const Method& method, double m, double v, const CentralMoments& g);

/// The method whose plain factors are those that zero_corrected uses at step t.
Method corrected(Method method, std::uint64_t t);

/// The estimators of the table, each as the method it is known by.
struct NamedEstimator {
  std::string id;    ///< "bcos_c"
  std::string what;  ///< "cond_full"
  Method method;     ///< without decay and eps, its start such that the factors are plain
};
/// beta_v: of those that read it; nothing: each its own (0.9, Adam 0.99, AdamS 0.95).
std::vector<NamedEstimator> estimators(double beta, std::optional<double> beta_v = {});

}  // namespace bcos::lab::theory
