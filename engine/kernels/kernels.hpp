#pragma once

#include <cstddef>
#include <cstdint>

#include "bcos/target.hpp"
#include "engine/method/estimators.hpp"

/// The loops of a step over dense memory of the working type, compiled for every target from one
/// source. This header knows nothing of SIMD.
namespace bcos::kernels {

/// The axes of a method that change a loop; everything else is a coefficient.
struct Recipe {
  bool momentum = false;
  Old a = Old::nothing;
  New b = New::d_square;
  StepRule rule = StepRule::sqrt;

  static constexpr std::size_t kOlds = static_cast<std::size_t>(Old::v) + 1;
  static constexpr std::size_t kNews = static_cast<std::size_t>(New::given) + 1;
  static constexpr std::size_t kRules = static_cast<std::size_t>(StepRule::inv) + 1;
  static constexpr std::size_t kCount = 2 * kOlds * kNews * kRules;
  constexpr std::size_t index() const {
    const std::size_t ma = (momentum ? kOlds : 0) + static_cast<std::size_t>(a);
    return (ma * kNews + static_cast<std::size_t>(b)) * kRules + static_cast<std::size_t>(rule);
  }
  static constexpr Recipe at(std::size_t i) {
    const std::size_t ab = i / kRules;
    return {ab / kNews >= kOlds, static_cast<Old>(ab / kNews % kOlds), static_cast<New>(ab % kNews),
            static_cast<StepRule>(i % kRules)};
  }

  constexpr bool keeps_v() const { return a == Old::v; }
  constexpr bool keeps_u() const { return rule == StepRule::two_est; }
  /// Whether v is a sum of squares, which can overflow and vanish.
  constexpr bool sums() const { return b != New::one && b != New::given; }
  /// Adam, and whatever else stores a v of other squares than |d|^2: states that do not belong
  /// together give any |d| / sqrt(v).
  constexpr bool unbounded() const { return keeps_v() && sums() && b != New::d_square; }

  /// Whether some method has this recipe.
  constexpr bool valid() const {
    bool in_table = false;
    bool needs_m = unbounded();
    for (const EstimatorRow& row : kEstimators) {
      if (row.a != a || row.b != b) continue;
      in_table = true;
      needs_m |= row.needs_momentum();
    }
    const bool averages_d = keeps_v() && b == New::d_square;
    return in_table && (momentum || !needs_m) && (averages_d || !keeps_u());
  }

  constexpr bool operator==(const Recipe&) const = default;
};

static_assert(
    [] {
      for (const EstimatorRow& row : kEstimators) {
        const Recipe recipe{true, row.a, row.b, StepRule::sqrt};
        if (recipe.index() >= Recipe::kCount || Recipe::at(recipe.index()) != recipe) return false;
      }
      return true;
    }(),
    "Recipe::kOlds and kNews count every enumerator of Old and New: the last ones are v and given");

/// The numbers of one parameter in one step, rounded once to the working type.
template <class T>
struct Coefficients {
  T factor = 1;         ///< on the gradient: clipping and grad_scale
  T second_factor = 1;  ///< the rest of a factor below the normal range of T
  T lambda = 0;         ///< of coupled decay
  T delta = 0;          ///< alpha lambda under decoupled decay
  T alpha = 0;          ///< with the gain of one-coordinate blocks, which is 1
  T gamma = 0;          ///< the stepsize of the constant estimator
  T beta = 0;           ///< of m and u
  T fresh = 1;          ///< 1 - beta
  T p = 0;
  T q = 1;
  T eps = 0;
  T eps_root = 0;
  T floor = 0;  ///< the larger of eps and the root of eps_root
  /// Squares are taken as they are where v_low <= v <= v_high and, for Adam, |d| <= d_high.
  T v_low = 0;
  T v_high = 0;
  T d_high = 0;
  double beta_wide = 0;  ///< beta in float64, for block sums
  bool coupled = false;
  bool reads_m = true;
  bool reads_v = true;
  bool reads_u = true;
  bool starts_from_gradient = false;
  bool starts_from_raw = false;

  /// Whether nothing is special: the quick loops take such steps.
  bool usual() const {
    return !coupled && !starts_from_gradient && reads_m && reads_v && reads_u && second_factor == 1;
  }
};

/// What a step has of every element or block: the first two are only read, taps only written.
enum Stream { kG, kOracle, kX, kM, kV, kU, kTapG, kTapD, kTapV, kTapUpdate, kStreams };
constexpr bool is_written(int stream) { return stream >= kX; }

/// The memory of a run of elements, dense. Null where a recipe does not use it.
template <class T>
struct Tile {
  T* data[kStreams] = {};
  bool tapped = false;    ///< some tap is there
  std::size_t ahead = 0;  ///< bytes between what is worked on and what is asked of memory

  T* operator[](Stream stream) const { return data[stream]; }

  /// The same from element i on.
  Tile from(std::size_t i) const {
    Tile tile = *this;
    for (int s = 0; s < (tapped ? kStreams : kTapG); ++s) {
      if (data[s] != nullptr) tile.data[s] += i;
    }
    return tile;
  }
};

/// Sums of a block, in float64.
struct Sums {
  double a;      ///< |m|^2, where A is
  double b;      ///< B
  double third;  ///< |u|^2 of the new u (rule two_est), or |d|^2 (Adam)

  friend Sums operator+(const Sums& x, const Sums& y) {
    return {x.a + y.a, x.b + y.b, x.third + y.third};
  }
};

/// Sums run over 16 virtual lanes whatever the vector's width: element i of a run goes to lane
/// i mod 16, and the lanes are added in a fixed tree. So a run has one sum, on every target.
inline constexpr std::size_t kLanes = 16;

/// Lanes between two calls that sum one run.
struct Lanes {
  alignas(64) double a[kLanes] = {};
  alignas(64) double b[kLanes] = {};
  alignas(64) double third[kLanes] = {};
};

template <class T>
struct Kernels {
  /// One-coordinate blocks: the whole step.
  using Coordinate = void (*)(const Coefficients<T>&, const Tile<T>&, std::size_t n);
  /// Sums of a run of n elements times `scale`. A run may come in several calls, all but the last
  /// of a multiple of 16 elements: `carried` holds its lanes and is brought up to date; null: a
  /// run of its own. The last call returns the sums of the run.
  using SumRun = Sums (*)(const Coefficients<T>&, const Tile<T>&, std::size_t n, double scale,
                          Lanes* carried);
  /// x -= delta x + gamma (scale d) on a part of a block, and the new m and u.
  using Apply = void (*)(const Coefficients<T>&, const Tile<T>&, std::size_t n, T gamma, T scale);

  // By Recipe::index(), null where the recipe is not valid or, for sum, does not sum.
  Coordinate coordinate[Recipe::kCount] = {};
  SumRun sum[Recipe::kCount] = {};
  Apply apply[Recipe::kCount] = {};
};

/// The kernels of a target that this CPU can run.
template <class T>
const Kernels<T>& kernels_of(Target target);

/// Bytes between what a step works on and what it asks memory for, best on this processor.
std::size_t prefetch_distance();

}  // namespace bcos::kernels
