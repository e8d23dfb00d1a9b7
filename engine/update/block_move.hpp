#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/update/pairwise.hpp"
#include "engine/update/slot.hpp"

namespace bcos {

/// How a block moves: x -= delta x + gamma (scale d).
template <class T>
struct Move {
  T gamma = 0;
  T scale = 1;
  double v = 0;         ///< as the rule uses it
  bool starts = false;  ///< the block's states start from this gradient
};

/// Finds the move of one block of `size` elements. Sum: (Recipe, const Coefficients<T>&, double
/// scale) -> Sums of the block's elements times scale.
template <class T, class Sum>
class MoveFinder {
 public:
  /// first: what the block sums to if it does not start at this step, where that is known already.
  MoveFinder(const Rounded<T>& step, std::uint64_t size, const Sum& sum,
             const kernels::Sums* first = nullptr)
      : step_(step),
        n_(step.numbers),
        recipe_(step.recipe),
        size_(size),
        sum_(sum),
        first_(first) {}

  /// old_v: the stored v. oracle: the caller's E|d|^2.
  Move<T> find(double old_v, double oracle) {
    Move<T> move;
    if (!n_.reads_v) old_v = 0;
    move.starts = n_.starts_from_gradient && (n_.unstarted || is_empty(old_v));
    starts_ = move.starts;
    if (starts_ && recipe_.keeps_v()) old_v = square_of_first_gradient();

    kernels::Sums sums = {};
    double scale = 1;
    if (recipe_.sums()) sums = sums_of_step();
    move.v = estimated(sums, old_v, oracle);
    const bool scales = recipe_.rule == StepRule::sqrt && recipe_.sums();
    if (scales && !in_range(move.v)) {
      scale = move.v < 1 ? kUp : kDown;
      sums = rescaled(scale);
      move.v = estimated(sums, old_v * scale * scale, oracle);
    }
    double gamma = gamma_of(n_, recipe_.rule, move.v, sums.third, size_, scale);
    if (scales && recipe_.unbounded()) bound(sums.third, gamma, scale);
    if (scale != 1) move.v = move.v / scale / scale;
    store(gamma, scale, move);
    return move;
  }

 private:
  /// Squares of float32 stay far inside the range of float64; those of float64 may need a scale.
  static constexpr double kUp = 0x1p600;
  static constexpr double kDown = 0x1p-600;

  kernels::Sums sums_of_step() const {
    if (first_ != nullptr && !starts_) return *first_;
    return rescaled(1);
  }
  kernels::Sums rescaled(double scale) const {
    return sum_(recipe_, starts_ ? step_.c : step_.started, scale);
  }

  /// Whether the block has not seen a gradient other than zero.
  bool is_empty(double old_v) const {
    if (recipe_.keeps_v()) return old_v == 0;
    if (!recipe_.momentum) return false;
    const kernels::Recipe of_m{true, Old::m_square, New::g_square, StepRule::sqrt};
    return sum_(of_m, step_.started, 1).a == 0 && sum_(of_m, step_.started, kUp).a == 0;
  }

  double square_of_first_gradient() const {
    kernels::Coefficients<T> c = step_.started;
    c.coupled = c.coupled && !c.starts_from_raw;
    const kernels::Recipe of_g{false, Old::nothing, New::d_square, StepRule::sqrt};
    return std::min(sum_(of_g, c, 1).b, std::numeric_limits<double>::max());
  }

  double estimated(const kernels::Sums& sums, double old_v, double oracle) const {
    if (recipe_.b == New::given) return oracle;
    if (recipe_.b == New::one) return n_.q;
    const double a = recipe_.keeps_v() ? old_v : sums.a;
    if (recipe_.a == Old::nothing) return sums.b;
    // An A that overflowed counts for nothing where its weight is 0.
    return n_.p == 0 ? n_.q * sums.b : n_.p * a + n_.q * sums.b;
  }

  bool in_range(double v) const {
    if (sizeof(T) < sizeof(double) || std::isnan(v)) return true;
    const bool stabilised = n_.eps_root >= 1e-280 || n_.eps >= 1e-135;
    return v <= 1e300 && (v >= 1e-280 || stabilised);
  }

  /// Adam: the block moves by kMostAmplified alpha at most, and along d / |d| where v vanished.
  void bound(double d_square, double& gamma, double& scale) const {
    const double gain = n_.sqrt_gain ? std::sqrt(static_cast<double>(size_)) : 1.0;
    const double alpha = n_.alpha * gain;
    double d_scale = scale;
    if (!(d_square <= 1e300 && d_square >= 1e-280)) {
      d_scale = d_square < 1 ? kUp : kDown;
      d_square = rescaled(d_scale).third;
    }
    if (alpha == 0 || d_square == 0 || std::isnan(d_square)) return;
    const double norm = std::sqrt(d_square);
    const double amplified = gamma * scale / d_scale * norm / alpha;
    if (gamma != 0 && amplified <= kMostAmplified) return;
    gamma = (gamma == 0 ? 1.0 : kMostAmplified) * alpha / norm;
    scale = d_scale;
  }

  /// A gamma that the working type cannot hold becomes gamma and scale, a power of two.
  static void store(double gamma, double scale, Move<T>& move) {
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

  const Rounded<T>& step_;
  const StepNumbers& n_;
  kernels::Recipe recipe_;
  std::uint64_t size_;
  const Sum& sum_;
  const kernels::Sums* first_;
  bool starts_ = false;
};

/// Finds the move of block k of a slot, n elements long, and stores its v.
template <class T, class Sum>
Move<T> find_move(const Slot<T>& slot, std::uint64_t k, std::uint64_t n, const Sum& sum,
                  const kernels::Sums* first = nullptr) {
  const T* const oracle = slot.tile.data[kernels::kOracle];
  T* const stored_v = slot.tile.data[kernels::kV];
  T* const tap_v = slot.tile.data[kernels::kTapV];
  const double old_v = stored_v == nullptr ? 0 : static_cast<double>(stored_v[k]);
  const double given = oracle == nullptr ? 0 : static_cast<double>(oracle[k]);
  const Move<T> move = MoveFinder(*slot.step, n, sum, first).find(old_v, given);
  const T v =
      static_cast<T>(std::min<double>(move.v, static_cast<double>(std::numeric_limits<T>::max())));
  if (stored_v != nullptr) stored_v[k] = v;
  if (tap_v != nullptr) tap_v[k] = v;
  return move;
}

}  // namespace bcos
