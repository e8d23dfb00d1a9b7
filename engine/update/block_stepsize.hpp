#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/kernels/kernels.hpp"
#include "engine/update/coefficients.hpp"
#include "engine/update/pairwise.hpp"

namespace bcos {

/// The sums of a whole block.
using BlockSums = kernels::Totals;

inline BlockSums combined(const kernels::Sums& sums) {
  return {kernels::combine(sums.a), kernels::combine(sums.b), kernels::combine(sums.u)};
}

/// Sums of a block, collected chunk by chunk.
class BlockSummer {
 public:
  void add(const kernels::Sums& chunk) { add(combined(chunk)); }
  void add(const BlockSums& chunk) {
    a_.add(chunk.a);
    b_.add(chunk.b);
    u_.add(chunk.u);
  }
  BlockSums total() const { return {a_.total(), b_.total(), u_.total()}; }

 private:
  PairwiseSum a_, b_, u_;
};

/// Sums of a block of n elements. SumChunk is a function (first, count) -> BlockSums of some of
/// them.
template <class SumChunk>
BlockSums sum_in_chunks(std::uint64_t n, const SumChunk& sum_chunk) {
  if (n <= kSumChunk) return sum_chunk(0, n);
  BlockSummer total;
  for (std::uint64_t i = 0; i < n; i += kSumChunk) {
    total.add(sum_chunk(i, std::min(kSumChunk, n - i)));
  }
  return total.total();
}

/// A parameter in a step, as its block steps see it.
template <class T>
struct BlockStep {
  const kernels::Kernels<T>* kernels;
  kernels::Recipe recipe;
  kernels::Coefficients<T> coefficients;
  StepNumbers numbers;
};

/// How a block is to be moved: x -= delta x + gamma (scale d).
template <class T>
struct BlockMove {
  T gamma = 0;
  T scale = 1;
  double v = 0;        ///< as used in the rule
  bool adopt = false;  ///< its states begin from this gradient
};

/// Finds the move of one block. Sum is a function (recipe, coefficients, scale) -> BlockSums over
/// the block's elements.
template <class T, class Sum>
class BlockStepsize {
 public:
  BlockStepsize(const BlockStep<T>& step, std::uint64_t size, const Sum& sum)
      : step_(step), size_(size), sum_(sum) {}

  /// v_old: the stored v; oracle: the caller's E|d|^2, where there is one.
  BlockMove<T> move(double v_old, double oracle) const {
    if (step_.coefficients.unstarted) v_old = 0;
    if (!step_.coefficients.adopt) return move_with(step_.coefficients, v_old, oracle);
    kernels::Coefficients<T> c = step_.coefficients;
    c.adopt = c.unstarted || empty(c, v_old);
    if (c.adopt && kernels::keeps_v(step_.recipe.estimate)) v_old = square_of_first(c);
    return move_with(c, v_old, oracle);
  }

 private:
  /// float32 data, widened, stay far inside the range of float64; float64 data may need scaling.
  static constexpr double kUp = 0x1p600;
  static constexpr double kDown = 0x1p-600;

  BlockMove<T> move_with(const kernels::Coefficients<T>& c, double v_old, double oracle) const {
    const kernels::Estimate estimate = step_.recipe.estimate;
    BlockMove<T> move;
    move.adopt = c.adopt;
    double scale = 1;
    BlockSums sums;
    if (kernels::needs_sums(estimate)) sums = sum_(step_.recipe, c, 1.0);
    move.v = estimated(sums, v_old, oracle);
    if (step_.recipe.rule == StepRule::sqrt && kernels::needs_sums(estimate) && !safe(move.v)) {
      scale = move.v < 1 ? kUp : kDown;
      sums = sum_(step_.recipe, c, scale);
      move.v = estimated(sums, v_old * scale * scale, oracle);
    }
    double gamma = block_gamma(step_.numbers, step_.recipe.rule, move.v, sums.u, size_, scale);
    if (estimate == kernels::Estimate::ema_g && step_.recipe.rule == StepRule::sqrt) {
      bound_by_direction(c, gamma, scale);
    }
    if (scale != 1) move.v = move.v / scale / scale;
    store(gamma, scale, move);
    return move;
  }

  bool safe(double v) const {
    if (sizeof(T) < sizeof(double) || std::isnan(v)) return true;
    const bool stabilised = step_.numbers.eps_root >= 1e-280 || step_.numbers.eps >= 1e-135;
    return v <= 1e300 && (v >= 1e-280 || stabilised);
  }

  double estimated(const BlockSums& sums, double v_old, double oracle) const {
    switch (step_.recipe.estimate) {
      case kernels::Estimate::constant:
        return step_.numbers.c;
      case kernels::Estimate::oracle:
        return oracle;
      case kernels::Estimate::instant:
        return sums.b;
      case kernels::Estimate::ema_d:
      case kernels::Estimate::ema_g:
        return weighted(v_old, sums.b);
      case kernels::Estimate::cond_full:
      case kernels::Estimate::cond_pair:
        break;
    }
    return weighted(sums.a, sums.b);
  }

  /// A sum that overflowed counts for nothing where its weight is 0.
  double weighted(double a, double b) const {
    const double fresh = step_.numbers.q * b;
    return step_.numbers.p == 0 ? fresh : step_.numbers.p * a + fresh;
  }

  /// Whether the block has not seen a non-zero gradient yet.
  bool empty(kernels::Coefficients<T> c, double v_old) const {
    if (kernels::keeps_v(step_.recipe.estimate)) return v_old == 0;
    if (!step_.recipe.momentum) return false;
    c.adopt = false;
    const kernels::Recipe with_m{true, kernels::Estimate::cond_pair, StepRule::sqrt};
    return sum_(with_m, c, 1.0).a == 0 && sum_(with_m, c, kUp).a == 0;
  }

  double square_of_first(kernels::Coefficients<T> c) const {
    c.coupled = c.coupled && !c.adopt_raw;
    const kernels::Recipe gradient{false, kernels::Estimate::instant, StepRule::sqrt};
    const double square = sum_(gradient, c, 1.0).b;
    return std::min(square, std::numeric_limits<double>::max());
  }

  /// Adam's v can vanish, or be tiny, while its d is not: then the block moves along d/|d|.
  void bound_by_direction(const kernels::Coefficients<T>& c, double& gamma, double& scale) const {
    const double along = step_.numbers.alpha *
                         (step_.numbers.sqrt_gain ? std::sqrt(static_cast<double>(size_)) : 1.0);
    if (gamma != 0 && gamma * scale <= 1e15 * along) return;
    if (along == 0) return;
    const kernels::Recipe direction{true, kernels::Estimate::instant, StepRule::sqrt};
    double d_scale = 1;
    double square = sum_(direction, c, d_scale).b;
    if (!(square <= 1e300 && square >= 1e-280)) {
      d_scale = square < 1 ? kUp : kDown;
      square = sum_(direction, c, d_scale).b;
    }
    if (square == 0 || std::isnan(square)) return;
    const double norm = std::sqrt(square);
    if (gamma == 0 || gamma * scale / d_scale * norm > kMostAmplified * along) {
      gamma = (gamma == 0 ? 1.0 : kMostAmplified) * along / norm;
      scale = d_scale;
    }
  }

  /// A gamma that the working type cannot hold is split into two powers of two.
  static void store(double gamma, double scale, BlockMove<T>& move) {
    if (sizeof(T) < sizeof(double) && gamma > 0 && std::isfinite(gamma) &&
        (gamma < 1e-25 || gamma > 1e25 || scale != 1)) {
      int exponent = 0;
      std::frexp(gamma * scale, &exponent);
      const double power = std::ldexp(1.0, std::clamp(exponent, -120, 120));
      gamma = gamma * scale / power;
      scale = power;
    }
    move.gamma = static_cast<T>(gamma);
    move.scale = static_cast<T>(scale);
  }

  const BlockStep<T>& step_;
  std::uint64_t size_;
  const Sum& sum_;
};

}  // namespace bcos
