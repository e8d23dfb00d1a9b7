#pragma once

#include <span>

#include "lab/numbers/statistics.hpp"
#include "lab/theory/estimator_moments.hpp"

namespace bcos::lab::theory {

/// The same moments from samples of one step of the engine.
struct SampledMoments {
  numbers::Estimate bias;  ///< against the exact E_t d^2
  numbers::Estimate variance;
  numbers::Estimate covariance;
  numbers::Estimate step;  ///< E_t[d / sqrt(v)]
};

/// One a method, all from the same gradients.
std::vector<SampledMoments> sampled_moments(std::span<const Method> methods, double m, double v,
                                            const Law& law, std::uint64_t samples,
                                            std::uint64_t key);

}  // namespace bcos::lab::theory
