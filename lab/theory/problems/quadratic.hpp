#pragma once

#include "lab/theory/problem.hpp"

namespace bcos::lab::theory {

/// P1: d_k = a_k (x_k - c_k) + s_k z in every coordinate, the standard instance.
class Quadratic : public Problem {
 public:
  Vector a = {1, 2, 0.5, 1};
  Vector c = {1, -1, 0.5, 0};
  Vector s = {1, 0.5, 2, 1};

  std::size_t size() const override { return a.size(); }
  Vector start() const override { return {3, -2, 1, -1}; }
  void sample(ConstSpan x, Noise& noise, Span d) const override;
  bool moments(ConstSpan x, Span mean, Span second) const override;
  std::optional<Vector> target(double lambda) const override;

  /// The zero of psi(mean, s) + lambda x in every coordinate, psi odd and increasing in the mean.
  Vector zero_of(const std::function<double(double mean, double s)>& psi, double lambda) const;

  /// phi_k'(x_*) + lambda: how fast coordinate k returns to x_*.
  Vector kappa(double lambda) const;
  /// 1 - lambda^2 x_{*,k}^2: the variance of a normalised step at x_*.
  Vector noise_variance(double lambda) const;
};

/// d = mean + z at x = 0 in every coordinate, a = s = 1: for experiments at a fixed x.
Quadratic unit_noise(const Vector& means);

/// P1b: d_k = a_k (x_k - c_k) + s_k z_k in blocks of two.
class BlockQuadratic : public Problem {
 public:
  Vector a = {1, 2};
  Vector c = {1, -0.5, 0.25, 1};
  Vector s = {1, 0.5};

  std::size_t size() const override { return c.size(); }
  std::size_t block_size() const override { return 2; }
  Vector start() const override { return {3, 1, -2, -1}; }
  void sample(ConstSpan x, Noise& noise, Span d) const override;
  bool moments(ConstSpan x, Span mean, Span second) const override;
  std::optional<Vector> target(double lambda) const override;

  /// How fast a block returns to x_*, along x_* - c and across it, in its two places.
  Vector kappa(double lambda) const;
  /// The variance of a normalised step at x_*, in each direction.
  Vector noise_variance(double lambda) const;
  /// x_0 - x_*, along and across.
  Vector start_error(double lambda) const;
};

}  // namespace bcos::lab::theory
