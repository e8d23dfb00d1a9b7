#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "lab/numbers/statistics.hpp"

/// What repeated samples at one x say: M independent gradients g^(j), of which neither optimizer
/// nor training knows.
namespace bcos::lab::diagnosis {

using numbers::Estimate;

/// `count` samples of a vector, one after another.
template <class T>
struct Samples {
  std::span<const T> values;
  std::size_t count = 0;

  std::size_t size() const { return count == 0 ? 0 : values.size() / count; }
  std::span<const T> sample(std::size_t j) const { return values.subspan(j * size(), size()); }
};

/// Of one block or, added up over blocks of the same samples, of many.
struct SampledMoments {
  std::size_t count = 0;    ///< M >= 2
  double mean_squared = 0;  ///< |gbar|^2
  double variance = 0;      ///< S = sum_j |g^(j) - gbar|^2 / (M-1): Var g without bias

  SampledMoments& operator+=(const SampledMoments& other);
  double signal() const;              ///< |gbar|^2 - S/M: |E g|^2 without bias
  double power() const;               ///< |gbar|^2 + S (M-1)/M: E|g|^2 without bias
  std::optional<double> rho() const;  ///< signal over power, clamped to [0, 1]
};

/// All elements as one block.
template <class T>
SampledMoments sampled_moments(const Samples<T>& samples);
/// One of each of so many blocks, which follow each other and have one size.
template <class T>
std::vector<SampledMoments> sampled_moments(const Samples<T>& samples, std::size_t blocks);

/// Of m^(j) = beta m + (1-beta) g^(j), where m is the momentum before the step.
template <class T>
SampledMoments momentum_moments(const Samples<T>& gradients, std::span<const T> m, double beta);

/// rho of all elements as one block, with its standard error: M >= 3.
template <class T>
numbers::Estimate sampled_rho(const Samples<T>& samples);

/// A statistic of M samples, from its value on all and on all but one: the delete-one jackknife.
/// The value is free of bias to first order.
numbers::Estimate jackknife(double whole, std::span<const double> without_one);

/// mean(a) / mean(b) of pairs.
numbers::Estimate ratio_of_means(std::span<const double> a, std::span<const double> b);

}  // namespace bcos::lab::diagnosis
