// The step of one-coordinate blocks, one pass over memory. Included inside the namespace of each
// target.

/// v from what the estimator reads; `old_v` is the stored one.
template <Estimate kEstimate, class N>
BCOS_INLINE N estimate_of(N m, N g, N d, N old_v, N p, N q, N beta) {
  if constexpr (kEstimate == Estimate::instant) return d * d;
  if constexpr (kEstimate == Estimate::ema_d) return weighted(p, old_v, q, d * d);
  if constexpr (kEstimate == Estimate::ema_g) return weighted(p, old_v, q, g * g);
  if constexpr (kEstimate == Estimate::cond_full) g = shifted_gradient(g, m, beta);
  return weighted(p, m * m, q, g * g);
}

template <class D, bool kMomentum, Estimate kEstimate, StepRule kRule>
class CoordinateStep {
 public:
  using T = LaneOf<D>;
  using N = Pack<D>;
  static constexpr std::size_t kStride = lanes_of<D>();

  explicit BCOS_INLINE CoordinateStep(const Coefficients<T>& c)
      : coupled_(c.coupled),
        unstarted_(c.unstarted),
        adopt_(c.adopt),
        adopt_raw_(c.adopt_raw),
        factor_(splat(D(), c.factor)),
        lambda_(splat(D(), c.lambda)),
        delta_(splat(D(), c.delta)),
        alpha_(splat(D(), c.alpha)),
        gamma_(splat(D(), c.gamma)),
        beta_(splat(D(), c.beta)),
        fresh_(splat(D(), c.fresh)),
        p_(splat(D(), c.p)),
        q_(splat(D(), c.q)),
        eps_(splat(D(), c.eps)),
        eps_root_(splat(D(), c.eps_root)),
        root_of_eps_root_(splat(D(), c.root_of_eps_root)),
        v_low_(splat(D(), c.v_low)),
        v_high_(splat(D(), c.v_high)),
        d_high_(splat(D(), c.d_high)),
        largest_(splat(D(), std::numeric_limits<T>::max())) {}

  BCOS_INLINE void operator()(const Streams<T>& s, std::size_t i) const {
    const N x = load(D(), s.x + i);
    const N raw = load(D(), s.g + i) * factor_;
    const N g = coupled_ ? with_coupled_decay(raw, lambda_, x) : raw;
    const States old = states_before(s, i, raw, g);

    N d = kMomentum ? smoothed(old.m, g, beta_, fresh_) : g;
    N v = zero_like(x);
    N u = zero_like(x);
    N update = zero_like(x);
    if constexpr (kEstimate == Estimate::constant) {
      v = p_;
      update = gamma_ * d;
    } else {
      v = kEstimate == Estimate::oracle ? load(D(), s.oracle + i) : estimate(old.m, g, d, old.v);
      if constexpr (kRule == StepRule::sqrt) {
        N direction = ratio_in_range(d, v);
        if constexpr (kEstimate == Estimate::oracle) {
          direction = ratio(d, root_denominator(v, eps_root_, eps_));
        } else if (const auto safe = in_range(d, v); !all_true(safe)) {
          const N largest = magnitude(old, g);
          d = no_overflow(d, largest);
          v = no_overflow(v, largest);
          direction = select(safe, direction, scaled_ratio(old, g, d, largest));
        }
        update = alpha_ * direction;
      } else {
        if constexpr (keeps_v(kEstimate)) v = select(v > largest_, largest_, v);
        N numerator = d;
        if constexpr (kRule == StepRule::two_est) {
          u = smoothed(old.u, d, beta_, fresh_);
          numerator = absolute(u) * d;
        }
        update = alpha_ * ratio(numerator, plain_denominator(v, eps_root_));
      }
    }

    store(moved(x, delta_, update), s.x + i);
    if constexpr (kMomentum) store(d, s.m + i);
    if constexpr (keeps_v(kEstimate)) store(v, s.v + i);
    if constexpr (kRule == StepRule::two_est) store(u, s.u + i);
    if (s.tapped) tap(s, i, g, d, v, update);
  }

 private:
  struct States {
    N m;
    N v;
    N u;
  };

  BCOS_INLINE States states_before(const Streams<T>& s, std::size_t i, N raw, N g) const {
    States old{zero_like(g), zero_like(g), zero_like(g)};
    if (!unstarted_) {
      if constexpr (kMomentum) old.m = load(D(), s.m + i);
      if constexpr (keeps_v(kEstimate)) old.v = load(D(), s.v + i);
      if constexpr (kRule == StepRule::two_est) old.u = load(D(), s.u + i);
    }
    if (adopt_) {
      const N first = adopt_raw_ ? raw : g;
      const auto empty = (keeps_v(kEstimate) ? old.v : old.m) == zero_like(g);
      const N square = first * first;
      old.m = select(empty, first, old.m);
      old.v = select(empty, select(square > largest_, largest_, square), old.v);
      old.u = select(empty, first, old.u);
    }
    return old;
  }

  BCOS_INLINE N estimate(N m, N g, N d, N v) const {
    return estimate_of<kEstimate>(m, g, d, v, p_, q_, beta_);
  }

  BCOS_INLINE N ratio_in_range(N d, N v) const { return d / root_denominator(v, eps_root_, eps_); }

  BCOS_INLINE auto in_range(N d, N v) const {
    const auto v_in_range = both(v >= v_low_, v <= v_high_);
    if constexpr (kEstimate == Estimate::ema_g) return both(v_in_range, absolute(d) <= d_high_);
    return v_in_range;
  }

  /// d/sqrt(v) is free of scale: computed on numbers near 1, squares neither vanish nor overflow.
  N scaled_ratio(const States& old, N g, N d, N largest) const {
    const N s = normalising_scale(largest);
    const N v = estimate(old.m * s, g * s, d * s, old.v * s * s);
    const N q = ratio(d * s, root_denominator(v, eps_root_ * s * s, eps_ * s));
    if constexpr (kEstimate != Estimate::ema_g) return q;
    // Adam's v may be far too small for its d: no ratio bounds it.
    const N most = splat(D(), static_cast<T>(kMostAmplified));
    return select(absolute(q) > most, copy_sign(most, q), q);
  }

  /// Of everything the ratio depends on.
  N magnitude(const States& old, N g) const {
    N largest = larger(larger(root_of_eps_root_, eps_), absolute(g));
    if constexpr (kMomentum) largest = larger(largest, absolute(old.m));
    if constexpr (keeps_v(kEstimate)) largest = larger(largest, square_root(old.v));
    return largest;
  }
  BCOS_INLINE N larger(N a, N b) const { return select(a >= b, a, b); }

  /// Finite numbers that overflowed in a sum become the largest finite number.
  BCOS_INLINE N no_overflow(N value, N largest_input) const {
    const auto overflowed = both(absolute(value) > largest_, largest_input <= largest_);
    return select(overflowed, copy_sign(largest_, value), value);
  }

  void tap(const Streams<T>& s, std::size_t i, N g, N d, N v, N update) const {
    if (s.tap_g != nullptr) store(g, s.tap_g + i);
    if (s.tap_d != nullptr) store(d, s.tap_d + i);
    if (s.tap_v != nullptr) store(v, s.tap_v + i);
    if (s.tap_update != nullptr) store(update, s.tap_update + i);
  }

  bool coupled_, unstarted_, adopt_, adopt_raw_;
  N factor_, lambda_, delta_, alpha_, gamma_, beta_, fresh_, p_, q_, eps_, eps_root_;
  N root_of_eps_root_, v_low_, v_high_, d_high_, largest_;
};

/// The same step where nothing is special: the states have started, decay is not coupled, nobody
/// taps. What its squares cannot hold it leaves to the full step. kSmooth: eps_root keeps small
/// estimates apart from 0 and eps is 0, as in every BCOS method, so that there is less to do.
template <class D, bool kMomentum, Estimate kEstimate, bool kSmooth>
class PlainStep {
 public:
  using T = LaneOf<D>;
  using N = Pack<D>;
  using Full = CoordinateStep<D, kMomentum, kEstimate, StepRule::sqrt>;
  static constexpr std::size_t kStride = lanes_of<D>();
  static constexpr bool kReadsM = kMomentum;

  explicit BCOS_INLINE PlainStep(const Coefficients<T>& c)
      : factor_(splat(D(), c.factor)),
        delta_(splat(D(), c.delta)),
        alpha_(splat(D(), c.alpha)),
        gamma_(splat(D(), c.gamma)),
        beta_(splat(D(), c.beta)),
        fresh_(splat(D(), c.fresh)),
        p_(splat(D(), c.p)),
        q_(splat(D(), c.q)),
        eps_(splat(D(), c.eps)),
        eps_root_(splat(D(), c.eps_root)),
        v_low_(splat(D(), c.v_low)),
        v_high_(splat(D(), c.v_high)),
        d_high_(splat(D(), c.d_high)) {}

  /// Copies of the pointers: vector stores may alias anything that is still in memory.
  template <class Reach>
  struct Memory {
    T* x;
    const T* g;
    T* m;
    T* v;
    Reach reach;

    BCOS_INLINE N get(const T* stream, std::size_t i) const { return reach.get(D(), stream, i); }
    BCOS_INLINE void put(N value, T* stream, std::size_t i) const { reach.put(value, stream, i); }
  };

  /// Where the same elements of the streams are that will be wanted soon.
  class Soon {
   public:
    BCOS_INLINE Soon(const Streams<T>& s, std::size_t offset)
        : x_(place(s.x, offset)),
          g_(place(s.g, offset)),
          m_(place(s.m, offset)),
          v_(place(s.v, offset)) {}

    BCOS_INLINE void prefetch_pair(std::size_t i) const {
      const std::uintptr_t bytes = i * sizeof(T);
      prefetch<2 * kStride, Cache::first, T>(x_ + bytes);
      prefetch<2 * kStride, Cache::first, const T>(g_ + bytes);
      if constexpr (kMomentum) prefetch<2 * kStride, Cache::first, T>(m_ + bytes);
      if constexpr (keeps_v(kEstimate)) prefetch<2 * kStride, Cache::first, T>(v_ + bytes);
    }

   private:
    static BCOS_INLINE std::uintptr_t place(const T* stream, std::size_t offset) {
      return reinterpret_cast<std::uintptr_t>(stream) + offset * sizeof(T);
    }
    std::uintptr_t x_, g_, m_, v_;
  };

  /// Everything of a vector but its last steps, which only numbers in range may take.
  struct Moment {
    N d;
    N v;
  };
  template <class At>
  BCOS_INLINE Moment moment(const At& at, std::size_t i) const {
    const N g = at.get(at.g, i) * factor_;
    const N m = kMomentum ? at.get(at.m, i) : g;
    const N d = kMomentum ? smoothed(m, g, beta_, fresh_) : g;
    if constexpr (kEstimate == Estimate::constant) return {d, d};
    const N old_v = keeps_v(kEstimate) ? at.get(at.v, i) : g;
    return {d, estimate_of<kEstimate>(m, g, d, old_v, p_, q_, beta_)};
  }

  /// Whether both are in range. Estimates are sums of squares: one that overflowed, or is not a
  /// number, shows in their sum.
  BCOS_INLINE bool in_range(const Moment& one, const Moment& other) const {
    if constexpr (kEstimate == Estimate::constant) return true;
    auto safe = one.v + other.v <= v_high_;
    if constexpr (!kSmooth) safe = both(safe, both(one.v >= v_low_, other.v >= v_low_));
    if constexpr (kEstimate == Estimate::ema_g) {
      safe = both(safe, both(absolute(one.d) <= d_high_, absolute(other.d) <= d_high_));
    }
    return all_true(safe);
  }

  template <class At>
  BCOS_INLINE void finish(const Moment& now, const At& at, std::size_t i) const {
    N update = gamma_ * now.d;
    if constexpr (kEstimate != Estimate::constant) {
      const N root = rooted(now.v, eps_root_);
      update = alpha_ * (now.d / (kSmooth ? root : root + eps_));
    }
    at.put(moved(at.get(at.x, i), delta_, update), at.x, i);
    if constexpr (kMomentum) at.put(now.d, at.m, i);
    if constexpr (keeps_v(kEstimate)) at.put(now.v, at.v, i);
  }

 private:
  N factor_, delta_, alpha_, gamma_, beta_, fresh_, p_, q_, eps_, eps_root_, v_low_, v_high_,
      d_high_;
};

/// Out of line, so that the rare step does not cost the plain one its registers.
template <class T, class Step>
__attribute__((noinline)) void full_step(const Coefficients<T>& c, const Streams<T>& s,
                                         std::size_t i, std::size_t n) {
  walk_dense(Step(c), s.from(i), n);
}

/// In a tile: its streams soon, and x, which may be in their way, for when the tile is done.
template <class Plain, class T>
class SoonInTile {
 public:
  BCOS_INLINE SoonInTile(const Streams<T>& tile, const T* x)
      : g_(tile.g), m_(tile.m), x_(x), ahead_(tuning().ahead) {}

  BCOS_INLINE void prefetch_pair(std::size_t i) const {
    constexpr std::size_t kPair = 2 * Plain::kStride;
    prefetch_ahead<kPair>(g_, i, ahead_);
    if constexpr (Plain::kReadsM) prefetch_ahead<kPair>(m_, i, ahead_);
    prefetch_ahead<kPair, Cache::second>(x_, i, 0);
  }

 private:
  const T* g_;
  T* m_;
  const T* x_;
  std::size_t ahead_;
};

/// Nothing will be wanted soon, or it is there already.
struct NothingSoon {
  BCOS_INLINE void prefetch_pair(std::size_t) const {}
};

/// Steps pairs of vectors from i on, up to the first that needs the full step; says where that is.
/// No calls inside: the coefficients stay in registers.
template <class Plain, class At, class Soon>
BCOS_INLINE std::size_t run_plain(const Plain& plain, const At& at, const Soon& soon, std::size_t i,
                                  std::size_t end) {
  constexpr std::size_t L = Plain::kStride;
  for (; i < end; i += 2 * L) {
    soon.prefetch_pair(i);
    const auto first = plain.moment(at, i);
    const auto second = plain.moment(at, i + L);
    if (!plain.in_range(first, second)) break;
    plain.finish(first, at, i);
    plain.finish(second, at, i + L);
  }
  return i;
}

/// Elements [i, end), whole pairs of vectors.
template <class Plain, class T, class Soon>
BCOS_INLINE void walk_pairs(const Coefficients<T>& c, const Streams<T>& s, const Soon& soon,
                            std::size_t i, std::size_t end) {
  constexpr std::size_t kPair = 2 * Plain::kStride;
  const typename Plain::template Memory<Whole> at{s.x, s.g, s.m, s.v, {}};
  for (; i < end; i += kPair) {
    i = run_plain(Plain(c), at, soon, i, end);
    if (i < end) full_step<T, typename Plain::Full>(c, s, i, kPair);
  }
}

/// Fewer elements than a pair of vectors, from i on. Behind them is 1, which is in range but for
/// extreme factors: it does not send the rest to the full step.
template <class Plain, class T>
BCOS_INLINE void walk_rest(const Coefficients<T>& c, const Streams<T>& s, std::size_t i,
                           std::size_t n) {
  constexpr std::size_t kPair = 2 * Plain::kStride;
  const Streams<T> rest = s.from(i);
  const typename Plain::template Memory<FirstAlone<T>> at{
      rest.x, rest.g, rest.m, rest.v, {n - i, T{1}}};
  if (run_plain(Plain(c), at, NothingSoon(), 0, kPair) < kPair) {
    full_step<T, typename Plain::Full>(c, s, i, n - i);
  }
}

template <class Plain, class T>
BCOS_INLINE void walk_tile(const Coefficients<T>& c, const Streams<T>& s, const T* x,
                           std::size_t n) {
  const std::size_t whole = n - n % (2 * Plain::kStride);
  walk_pairs<Plain>(c, s, SoonInTile<Plain, T>(s, x), 0, whole);
  if (whole < n) walk_rest<Plain>(c, s, whole, n);
}

/// What is asked for near the end is the beginning of the tensor that follows.
template <class Plain, class T>
BCOS_INLINE void walk_plain(const Coefficients<T>& c, const Streams<T>& s, std::size_t n) {
  constexpr std::size_t kPair = 2 * Plain::kStride;
  const std::size_t whole = n - n % kPair;
  const std::size_t ahead = tuning().ahead / sizeof(T) / kPair * kPair;
  const std::size_t turn = s.next == nullptr ? whole : whole - std::min(whole, ahead);
  walk_pairs<Plain>(c, s, typename Plain::Soon(s, ahead), 0, turn);
  if (turn < whole) {
    const std::size_t back = std::size_t{0} - turn;  // unsigned: added to again from turn on
    walk_pairs<Plain>(c, s, typename Plain::Soon(*s.next, back), turn, whole);
  }
  if (whole < n) walk_rest<Plain>(c, s, whole, n);
}

template <class Plain, class T>
void walk_plain_or_tiled(const Coefficients<T>& c, const Streams<T>& s, std::size_t n) {
  if (goes_through_tiles(c, s)) {
    walk_tiles(c, s, n,
               [&](const Coefficients<T>& coefficients, const Streams<T>& tile, const T* x,
                   std::size_t count)
                   BCOS_LAMBDA { walk_tile<Plain>(coefficients, tile, x, count); });
  } else {
    walk_plain<Plain>(c, s, n);
  }
}

template <class T, bool kMomentum, Estimate kEstimate, StepRule kRule>
void coordinate(const Coefficients<T>& c, const Streams<T>& s, std::size_t n) {
  using D = FullTag<T>;
  if constexpr (kRule == StepRule::sqrt && kEstimate != Estimate::oracle) {
    const bool plain = !c.coupled && !c.unstarted && !c.adopt && !s.tapped;
    if (plain && c.v_low == 0 && c.eps == 0) {
      walk_plain_or_tiled<PlainStep<D, kMomentum, kEstimate, true>>(c, s, n);
      return;
    }
    if (plain) {
      walk_plain_or_tiled<PlainStep<D, kMomentum, kEstimate, false>>(c, s, n);
      return;
    }
  }
  walk(c, s, n, [](const Coefficients<T>& now) BCOS_LAMBDA {
    return CoordinateStep<D, kMomentum, kEstimate, kRule>(now);
  });
}
