#pragma once

#include "lab/theory/problem.hpp"

/// The paper's small examples.
namespace bcos::lab::theory {

/// P2: d_k = a_k (x_k - c_k)(1 + s z). phi = sign(x - c) / sqrt(1 + s^2).
class MultiplicativeNoise : public Problem {
 public:
  Vector a = {1, 2, 0.5};
  Vector c = {0.5, -0.4, 0};
  double s = 1;

  std::size_t size() const override { return a.size(); }
  Vector start() const override { return {3, -2, 1}; }
  void sample(ConstSpan x, Noise& noise, Span d) const override;
  bool moments(ConstSpan x, Span mean, Span second) const override;
  /// c, if lambda |c_k| <= 1 / sqrt(1 + s^2) for all k.
  std::optional<Vector> target(double lambda) const override;
};

/// P3: E d = x (x-3)^2 (x+2)^2 + q x, additive noise s.
class Polynomial : public Problem {
 public:
  double q = 0;
  double s = 1;

  explicit Polynomial(double q_ = 0) : q(q_) {}
  std::size_t size() const override { return 1; }
  Vector start() const override { return {5}; }
  void sample(ConstSpan x, Noise& noise, Span d) const override;
  bool moments(ConstSpan x, Span mean, Span second) const override;
  std::optional<Vector> target(double /*lambda*/) const override { return Vector{0}; }
  double mean(double x) const;
};

/// P4: F = log|x|, E d = 1/x, additive noise s.
class Logarithm : public Problem {
 public:
  double s = 0.5;

  std::size_t size() const override { return 1; }
  Vector start() const override { return {4}; }
  void sample(ConstSpan x, Noise& noise, Span d) const override;
  bool moments(ConstSpan x, Span mean, Span second) const override;
  std::optional<Vector> target(double /*lambda*/) const override { return Vector{0}; }
};

/// P5: E d = (A + q I) x with A = [[1,-2],[-2,4]], no noise. Aiming fails for q < 1/3.
class SkewedQuadratic : public Problem {
 public:
  double q = 0;

  explicit SkewedQuadratic(double q_ = 0) : q(q_) {}
  std::size_t size() const override { return 2; }
  Vector start() const override { return {1.5, 1}; }
  void sample(ConstSpan x, Noise& noise, Span d) const override;
  bool moments(ConstSpan x, Span mean, Span second) const override;
};

/// P7: d = A (x - c) + s z, A = [[1, q], [q, 1]]. Single coordinates often aim away from x_*, and
/// their sum does not, for q up to about 0.6.
class CoupledQuadratic : public Problem {
 public:
  double q = 0.6;
  Vector c = {1, -0.5};
  Vector s = {1, 1};

  CoupledQuadratic() = default;
  explicit CoupledQuadratic(double q_, Vector s_ = {1, 1}) : q(q_), s(std::move(s_)) {}
  std::size_t size() const override { return 2; }
  Vector start() const override { return {3, -2}; }
  void sample(ConstSpan x, Noise& noise, Span d) const override;
  bool moments(ConstSpan x, Span mean, Span second) const override;
  std::optional<Vector> target(double lambda) const override;
};

}  // namespace bcos::lab::theory
