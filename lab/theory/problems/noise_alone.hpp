#pragma once

#include "lab/theory/law.hpp"
#include "lab/theory/problem.hpp"

namespace bcos::lab::theory {

/// d of one law in every coordinate, wherever x is. With a law of mean 0 the conceptual method has
/// no direction, phi = 0 and x_* = 0, and all that moves a practical method is its own error.
class NoiseAlone : public Problem {
 public:
  Law law;
  std::size_t n = 4;
  std::size_t block = 1;

  explicit NoiseAlone(Law law_, std::size_t n_ = 4, std::size_t block_ = 1)
      : law(law_), n(n_), block(block_) {}
  std::size_t size() const override { return n; }
  std::size_t block_size() const override { return block; }
  Vector start() const override { return Vector(n, 0.0); }
  void sample(ConstSpan x, Noise& noise, Span d) const override;
  bool moments(ConstSpan x, Span mean, Span second) const override;
  std::optional<Vector> target(double lambda) const override;
};

/// y - 1, y exponential: no mean, and yet negative more often than not.
NoiseAlone skewed_noise(std::size_t n = 4, std::size_t block = 1);

/// E[d / |d|] of signs on skewed noise, by coordinate: 2/e - 1 alone, by quadrature in pairs.
double skewed_sign(std::size_t block);

}  // namespace bcos::lab::theory
