// The step of one-coordinate blocks, in one pass over memory.

/// The step of a vector of elements. The quick form takes usual coefficients and squares as they
/// are; where they leave the safe range it writes nothing and returns false. The careful form takes
/// every case, on numbers near 1. Where both apply they give the same bits.
template <class D, Recipe kR, bool kQuick>
class CoordinateStep {
 public:
  using T = LaneOf<D>;
  using N = Pack<D>;
  static constexpr std::size_t kStride = lanes_of<D>();

  explicit BCOS_INLINE CoordinateStep(const Coefficients<T>& c)
      : in_(c),
        delta_(splat(D(), c.delta)),
        alpha_(splat(D(), c.alpha)),
        gamma_(splat(D(), c.gamma)),
        p_(splat(D(), c.p)),
        q_(splat(D(), c.q)),
        eps_(splat(D(), c.eps)),
        eps_root_(splat(D(), c.eps_root)),
        floor_(splat(D(), c.floor)),
        v_low_(splat(D(), c.v_low)),
        v_high_(splat(D(), c.v_high)),
        d_high_(splat(D(), c.d_high)),
        largest_(splat(D(), std::numeric_limits<T>::max())) {}

  template <class Reach>
  BCOS_INLINE bool operator()(const Tile<T>& t, std::size_t i, const Reach& reach) const {
    Values now = in_.read(t, i, reach);
    N v = q_;
    [[maybe_unused]] N u = now.u;
    N update = gamma_ * now.d;
    if constexpr (kR.b == New::given) v = reach.get(D(), t[kOracle], i);
    if constexpr (kR.sums()) v = estimated(now.m, now.g, now.d, now.v);
    if constexpr (kR.rule == StepRule::sqrt && kR.sums()) {
      const N as_it_is = now.d / (square_root(v + eps_root_) + eps_);
      const auto safe = in_range(v, now.d);
      if constexpr (kQuick) {
        if (!all_true(safe)) return false;
        update = alpha_ * as_it_is;
      } else {
        const N largest_input = magnitude(now);
        now.d = no_overflow(now.d, largest_input);
        v = no_overflow(v, largest_input);
        update = alpha_ * select(safe, as_it_is, near_one(now, v, largest_input));
      }
    } else if constexpr (kR.b != New::one) {
      if constexpr (kR.keeps_v()) v = select(v > largest_, largest_, v);
      N denominator = v + eps_root_;
      if constexpr (kR.rule == StepRule::sqrt) denominator = square_root(denominator) + eps_;
      N numerator = now.d;
      if constexpr (kR.keeps_u()) {
        u = in_.new_u(now);
        numerator = absolute(u) * now.d;
      }
      update = alpha_ * ratio(numerator, denominator);
    }
    reach.put(moved(reach.get(D(), t[kX], i), delta_, update), t[kX], i);
    if constexpr (kR.momentum) reach.put(now.d, t[kM], i);
    if constexpr (kR.keeps_v()) reach.put(v, t[kV], i);
    if constexpr (kR.keeps_u()) reach.put(u, t[kU], i);
    if (!kQuick && t.tapped) {
      tap<kTapG>(t, i, reach, now.g);
      tap<kTapD>(t, i, reach, now.d);
      tap<kTapV>(t, i, reach, v);
      tap<kTapUpdate>(t, i, reach, update);
    }
    return true;
  }

  /// Asks memory for what the same step will need a little later.
  BCOS_INLINE void ask_ahead(const Tile<T>& t, std::size_t i) const {
    ask_for<kStride, kX>(t, i);
    ask_for<kStride, kG>(t, i);
    if constexpr (kR.momentum) ask_for<kStride, kM>(t, i);
    if constexpr (kR.keeps_v()) ask_for<kStride, kV>(t, i);
  }

 private:
  using In = Inputs<D, kR, kQuick, false>;
  using Values = typename In::Values;

  BCOS_INLINE N estimated(N m, N g, N d, N old_v) const {
    return estimate<kR.a, kR.b>(m, g, d, old_v, p_, q_, in_.beta());
  }

  BCOS_INLINE auto in_range(N v, [[maybe_unused]] N d) const {
    const auto v_is = both(v >= v_low_, v <= v_high_);
    if constexpr (kR.unbounded()) return both(v_is, absolute(d) <= d_high_);
    return v_is;
  }

  /// d / (sqrt(v + eps_root) + eps) is free of scale: times a power of two, which is exact, squares
  /// neither vanish nor overflow.
  BCOS_INLINE N near_one(const Values& now, [[maybe_unused]] N v, N largest_input) const {
    const N s = normalising_scale(largest_input);
    const N scaled_v = estimated(now.m * s, now.g * s, now.d * s, now.v * s * s);
    const N denominator = square_root(scaled_v + eps_root_ * s * s) + eps_ * s;
    const N r = ratio(now.d * s, denominator);
    if constexpr (!kR.unbounded()) return r;
    // A denominator that only the scale made vanish is far too small for d.
    const N most = splat(D(), static_cast<T>(kMostAmplified));
    const N zero = zero_like(r);
    const N bounded = select(both(denominator == zero, larger(floor_, v) > zero), r * most, r);
    return select(absolute(bounded) > most, copy_sign(most, bounded), bounded);
  }

  /// The largest of everything that the ratio depends on.
  BCOS_INLINE N magnitude(const Values& now) const {
    N largest = larger(floor_, absolute(now.g));
    if constexpr (kR.momentum) largest = larger(largest, absolute(now.m));
    if constexpr (kR.keeps_v()) largest = larger(largest, square_root(now.v));
    return largest;
  }
  BCOS_INLINE N larger(N a, N b) const { return select(a >= b, a, b); }

  /// Finite numbers that overflowed in a sum become the largest finite number.
  BCOS_INLINE N no_overflow(N value, N largest_input) const {
    const auto overflowed = both(absolute(value) > largest_, largest_input <= largest_);
    return select(overflowed, copy_sign(largest_, value), value);
  }

  In in_;
  N delta_, alpha_, gamma_, p_, q_, eps_, eps_root_, floor_, v_low_, v_high_, d_high_, largest_;
};

/// Out of line: inlined, it would cost the quick loop its registers.
template <class Step, class T>
__attribute__((noinline)) void run_careful(const Coefficients<T>& c, const Tile<T>& t,
                                           std::size_t i, std::size_t n) {
  run(Step(c), t, i, n);
}

template <class T, Recipe kR>
void coordinate(const Coefficients<T>& c, const Tile<T>& tile, std::size_t n) {
  using D = FullTag<T>;
  using Careful = CoordinateStep<D, kR, false>;
  const Tile<T> t = tile;  // a copy, whose pointers no store can change
  if constexpr (kR.rule == StepRule::sqrt && kR.b != New::given) {
    if (c.usual() && !t.tapped) {
      std::size_t i = 0;
      while ((i = run(CoordinateStep<D, kR, true>(c), t, i, n)) < n) {
        const std::size_t end = std::min(n, i + Careful::kStride);
        run_careful<Careful>(c, t, i, end);
        i = end;
      }
      return;
    }
  }
  run_careful<Careful>(c, t, 0, n);
}
