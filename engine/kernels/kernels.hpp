#pragma once

#include <cstddef>
#include <cstdint>

#include "bcos/method.hpp"
#include "bcos/step_numbers.hpp"
#include "bcos/target.hpp"

/// The loops of a step over dense memory, compiled for every target from one source.
/// This header knows nothing of SIMD.
namespace bcos::kernels {

/// What an estimator reads and writes. cond_simple and cond_free differ in their weights alone.
enum class Estimate : std::uint8_t {
  constant,
  oracle,
  instant,
  ema_d,
  ema_g,
  cond_full,
  cond_pair,
};
inline constexpr std::size_t kEstimates = 7;
inline constexpr std::size_t kRules = 3;

/// The axes of a method that change the loop; everything else is a coefficient.
struct Recipe {
  bool momentum = false;
  Estimate estimate = Estimate::constant;
  StepRule rule = StepRule::sqrt;

  constexpr std::size_t index() const {
    return ((momentum ? kEstimates : 0) + static_cast<std::size_t>(estimate)) * kRules +
           static_cast<std::size_t>(rule);
  }
};
inline constexpr std::size_t kRecipes = 2 * kEstimates * kRules;

/// Everything an estimator but constant and oracle computes is v = p A + q B, with
///   A = |m|^2 (conditional), the old v (moving averages) or nothing (instant),
///   B = |d|^2, |g|^2 or |g + beta m|^2.
/// `conditional` ones have no stored v.
constexpr bool keeps_v(Estimate e) { return e == Estimate::ema_d || e == Estimate::ema_g; }
constexpr bool reads_m(Estimate e) { return e == Estimate::cond_full || e == Estimate::cond_pair; }
constexpr bool needs_sums(Estimate e) { return e != Estimate::constant && e != Estimate::oracle; }

/// The numbers of one parameter in one step, rounded once to the working type.
template <class T>
struct Coefficients {
  T factor = 1;    ///< on the gradient: clipping and grad_scale
  T lambda = 0;    ///< coupled decay
  T delta = 0;     ///< alpha lambda under decoupled decay
  T alpha = 0;     ///< times the gain
  T gamma = 0;     ///< the whole stepsize where it is known beforehand (constant)
  T beta = 0;      ///< of m and u
  T fresh = 1;     ///< 1 - beta
  T p = 0;         ///< weight of A; the constant estimate
  T q = 1;         ///< weight of B
  T eps = 0;       ///< added to the root
  T eps_root = 0;  ///< added to v
  T root_of_eps_root = 0;
  T v_low = 0;  ///< plain squares are used where v_low <= v <= v_high and |d| <= d_high
  T v_high = 0;
  T d_high = 0;
  double beta_wide = 0;    ///< beta in float64, for block sums
  bool coupled = false;    ///< lambda x is added to the gradient
  bool unstarted = false;  ///< stored states are not read: they are zero
  bool adopt = false;      ///< zero states begin from this gradient
  bool adopt_raw = false;  ///< ... before lambda x is added

  /// Whether the states have started, and the gradient is taken as it comes.
  bool plain() const { return !coupled && !unstarted && !adopt && factor == 1; }
};

/// Dense memory of one parameter, or a piece of it. Null where a recipe does not use it.
template <class T>
struct Streams {
  T* x = nullptr;
  const T* g = nullptr;
  T* m = nullptr;
  T* v = nullptr;
  T* u = nullptr;
  const T* oracle = nullptr;
  T* tap_g = nullptr;
  T* tap_d = nullptr;
  T* tap_v = nullptr;
  T* tap_update = nullptr;
  const Streams* next = nullptr;  ///< what is stepped after this: asked for, never read
  bool tapped = false;            ///< any of the taps is there
  bool tiled = false;  ///< states collide with x in the first-level cache: go through tiles

  Streams from(std::size_t i) const {
    Streams s = *this;
    s.x = at(x, i);
    s.g = at(g, i);
    s.m = at(m, i);
    s.v = at(v, i);
    s.u = at(u, i);
    s.oracle = at(oracle, i);
    s.tap_g = at(tap_g, i);
    s.tap_d = at(tap_d, i);
    s.tap_v = at(tap_v, i);
    s.tap_update = at(tap_update, i);
    return s;
  }

  /// The same without the streams that have one number a block.
  Streams block_from(std::size_t i) const {
    Streams s = from(i);
    s.v = nullptr;
    s.oracle = nullptr;
    s.tap_v = nullptr;
    return s;
  }

 private:
  template <class P>
  static P* at(P* pointer, std::size_t i) {
    return pointer == nullptr ? nullptr : pointer + i;
  }
};

/// Sums run over 16 virtual lanes whatever the vector's width: element i of a run goes to lane
/// i mod 16. So a run of elements has one sum, on every target.
inline constexpr std::size_t kLanes = 16;

struct Sums {
  alignas(64) double a[kLanes] = {};  ///< |m|^2
  alignas(64) double b[kLanes] = {};  ///< |d|^2, |g|^2 or |g + beta m|^2
  alignas(64) double u[kLanes] = {};  ///< |u|^2 of the new u
};

/// The same with the lanes added up, as `combine` does it.
struct Totals {
  double a = 0;
  double b = 0;
  double u = 0;
};

/// The lanes of a run, added in a fixed tree. Not inline: beside another sum, compilers mix the two
/// and read across the vectors that were just written, which costs more than the additions.
double combine(const double (&lanes)[kLanes]);

/// Whether blocks may be advanced before their move is known. Sums in float64 hold all squares of
/// float32, but not of float64, and then they are made again from the old states. An average of
/// finite float32 numbers never overflows, whatever beta (TheLargestNumbers tries them all).
template <class T>
inline constexpr bool kAdvances = sizeof(T) < sizeof(double);

/// Elements [begin, end) that were advanced but not moved yet.
template <class T>
struct Unmoved {
  std::size_t begin = 0;
  std::size_t end = 0;
  T gamma = 0;
};

template <class T>
struct Kernels {
  /// One-coordinate blocks: the whole step.
  using Coordinate = void (*)(const Coefficients<T>&, const Streams<T>&, std::size_t n);
  /// Adds n elements of a block, times `scale`, to the sums; n is a multiple of 16 but at the end.
  using AddSums = void (*)(const Coefficients<T>&, const Streams<T>&, std::size_t n, double scale,
                           Sums&);
  /// x -= delta x + gamma (scale d) on a piece of a block, and the new m and u.
  using Apply = void (*)(const Coefficients<T>&, const Streams<T>&, std::size_t n, T gamma,
                         T scale);
  /// Takes m and u of n elements of a block a step further, which does not depend on gamma, and
  /// sums them. Like the two below for plain coefficients, without taps and tiles.
  using Advance = Totals (*)(const Coefficients<T>&, const Streams<T>&, std::size_t n);
  /// x -= delta x + gamma (scale d) on a piece of a block that was advanced.
  using Move = Apply;
  /// Advances the n elements from `next` on and moves as many that were advanced before, in one
  /// loop: memory then sees steady streams. First come those of `unmoved`, all of them, then the
  /// n from `block` on, whose last ones may be left over in `unmoved`.
  using Sweep = Totals (*)(const Coefficients<T>&, const Streams<T>&, std::size_t block,
                           std::size_t next, std::size_t n, T gamma, Unmoved<T>& unmoved);
  /// Adds squares of n gradients, times `scale`, to the lanes.
  using AddSquares = void (*)(const T* g, std::size_t n, double scale, double (&lanes)[kLanes]);
  /// The same streams as a step (m, v where not null) with trivial arithmetic: the memory limit.
  using Limit = void (*)(T* x, const T* g, T* m, T* v, std::size_t n);

  Coordinate coordinate[kRecipes] = {};
  AddSums add_sums[kRecipes] = {};
  Apply apply[2][2] = {};  ///< [momentum][u]
  Advance advance[kRecipes] = {};
  Move move[2] = {};  ///< [momentum]
  Sweep sweep[kRecipes] = {};
  AddSquares add_squares = nullptr;
  Limit limit = nullptr;
};

/// The kernels of a target that this CPU can run.
template <class T>
const Kernels<T>& kernels_of(Target target);

}  // namespace bcos::kernels
