#pragma once

#include <span>

#include "lab/theory/estimator_moments.hpp"
#include "lab/theory/statistics.hpp"

namespace bcos::theory {

/// The same moments from samples of one step of the engine.
struct SampledMoments {
  Estimate bias;  ///< against the exact E_t d^2
  Estimate variance;
  Estimate covariance;
  Estimate step;  ///< E_t[d / sqrt(v)]
};

/// One a method, all from the same gradients.
std::vector<SampledMoments> sampled_moments(std::span<const Method> methods, double m, double v,
                                            const Law& law, std::uint64_t samples,
                                            std::uint64_t key);

}  // namespace bcos::theory
