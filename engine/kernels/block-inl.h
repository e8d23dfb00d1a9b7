// Blocks of many coordinates: sums of a run of elements in float64, then the step with the block's
// own gamma.

/// 16 lanes of float64 in as many vectors as that takes.
class LaneSums {
 public:
  using D = FullTag<double>;
  static constexpr std::size_t kVector = lanes_of<D>();
  static constexpr std::size_t kVectors = kLanes / kVector;

  BCOS_INLINE LaneSums() {
    for (std::size_t j = 0; j < kVectors; ++j) sum_[j] = splat(D(), 0.0);
  }
  BCOS_INLINE void take(const double (&lanes)[kLanes]) {
    for (std::size_t j = 0; j < kVectors; ++j) sum_[j] = load(D(), lanes + j * kVector);
  }
  BCOS_INLINE void put(double (&lanes)[kLanes]) const {
    for (std::size_t j = 0; j < kVectors; ++j) store(sum_[j], lanes + j * kVector);
  }
  BCOS_INLINE void add_square(std::size_t j, Pack<D> value) { sum_[j] = sum_[j] + value * value; }
  BCOS_INLINE double total() const {
    LaneSums sums = *this;
    for (std::size_t half = kVectors / 2; half > 0; half /= 2) {
      for (std::size_t j = 0; j < half; ++j) sums.sum_[j] = sums.sum_[j] + sums.sum_[j + half];
    }
    return folded(sums.sum_[0]);
  }

 private:
  Pack<D> sum_[kVectors];
};

/// Adds 16 elements to the sums of a block.
template <class T, Recipe kR, bool kQuick>
class SumStep {
 public:
  using D = NarrowTag<T>;
  using Wide = Pack<FullTag<double>>;
  static constexpr bool kReadsM = kR.momentum;

  BCOS_INLINE SumStep(const Coefficients<T>& c, double scale)
      : in_(c),
        scale_(splat(FullTag<double>(), scale)),
        beta_(splat(FullTag<double>(), c.beta_wide)) {}

  template <class Reach>
  BCOS_INLINE void operator()(const Tile<T>& t, std::size_t i, const Reach& reach) {
    for (std::size_t j = 0; j < LaneSums::kVectors; ++j) {
      const auto now = in_.read(t, i + j * LaneSums::kVector, reach);
      const Wide m = wide(now.m);
      const Wide d = wide(now.d);
      if constexpr (kSumsA) a_.add_square(j, m);
      b_.add_square(j, fresh_part<kR.b>(m, wide(now.g), d, beta_));
      if constexpr (kR.keeps_u()) third_.add_square(j, wide(in_.new_u(now)));
      if constexpr (kR.unbounded()) third_.add_square(j, d);
    }
  }

  BCOS_INLINE void take(const Lanes& lanes) {
    if constexpr (kSumsA) a_.take(lanes.a);
    b_.take(lanes.b);
    if constexpr (kHasThird) third_.take(lanes.third);
  }
  BCOS_INLINE void put(Lanes& lanes) const {
    if constexpr (kSumsA) a_.put(lanes.a);
    b_.put(lanes.b);
    if constexpr (kHasThird) third_.put(lanes.third);
  }
  BCOS_INLINE Sums sums() const {
    return {kSumsA ? a_.total() : 0, b_.total(), kHasThird ? third_.total() : 0};
  }

 private:
  static_assert(kR.a == Old::nothing || kR.a == Old::m_square || kR.a == Old::v,
                "a new A needs its sum here");
  static constexpr bool kSumsA = kR.a == Old::m_square;
  static constexpr bool kHasThird = kR.keeps_u() || kR.unbounded();
  using In = Inputs<D, kR, kQuick, true>;

  BCOS_INLINE Wide wide(typename In::N value) const {
    return kQuick ? widen(value) : widen(value) * scale_;
  }

  In in_;
  Wide scale_, beta_;
  LaneSums a_, b_, third_;
};

/// Apply will want x: it is asked for here, if it is given, while the sums keep the processor busy.
template <class Step, class T>
BCOS_INLINE Sums run_sums(Step step, const Tile<T>& t, std::size_t n, Lanes* carried) {
  if (carried != nullptr) step.take(*carried);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    ask_for<kLanes, kG>(t, i);
    if (Step::kReadsM) ask_for<kLanes, kM>(t, i);
    if (t[kX] != nullptr) ask_for<kLanes, kX>(t, i);
    step(t, i, Whole());
  }
  if (i < n) step(t, i, UpTo<T>{n, T{0}});
  if (carried != nullptr) step.put(*carried);
  return step.sums();
}

template <class T, Recipe kR>
Sums sum_run(const Coefficients<T>& c, const Tile<T>& tile, std::size_t n, double scale,
             Lanes* carried) {
  const Tile<T> t = tile;
  if (c.usual() && scale == 1) return run_sums(SumStep<T, kR, true>(c, 1), t, n, carried);
  return run_sums(SumStep<T, kR, false>(c, scale), t, n, carried);
}

template <class D, Recipe kR, bool kQuick>
class ApplyStep {
 public:
  using T = LaneOf<D>;
  using N = Pack<D>;
  static constexpr std::size_t kStride = lanes_of<D>();

  BCOS_INLINE ApplyStep(const Coefficients<T>& c, T gamma, T scale)
      : in_(c),
        delta_(splat(D(), c.delta)),
        gamma_(splat(D(), gamma)),
        scale_(splat(D(), scale)),
        largest_(splat(D(), std::numeric_limits<T>::max())) {}

  template <class Reach>
  BCOS_INLINE bool operator()(const Tile<T>& t, std::size_t i, const Reach& reach) const {
    const auto now = in_.read(t, i, reach);
    const N d = kR.momentum && !kQuick ? no_overflow(now) : now.d;
    const N update = gamma_ * (kQuick ? d : d * scale_);
    reach.put(moved(reach.get(D(), t[kX], i), delta_, update), t[kX], i);
    if constexpr (kR.momentum) reach.put(d, t[kM], i);
    if constexpr (kR.keeps_u()) reach.put(in_.new_u(now), t[kU], i);
    if (!kQuick && t.tapped) {
      tap<kTapG>(t, i, reach, now.g);
      tap<kTapD>(t, i, reach, d);
      tap<kTapUpdate>(t, i, reach, update);
    }
    return true;
  }
  /// The sums have just read the same.
  BCOS_INLINE void ask_ahead(const Tile<T>&, std::size_t) const {}

 private:
  using In = Inputs<D, kR, kQuick, true>;

  /// A finite m and a finite g have a finite average.
  BCOS_INLINE N no_overflow(const typename In::Values& now) const {
    const auto finite = both(absolute(now.m) <= largest_, absolute(now.g) <= largest_);
    const auto overflowed = both(finite, absolute(now.d) > largest_);
    return select(overflowed, copy_sign(largest_, now.d), now.d);
  }

  In in_;
  N delta_, gamma_, scale_, largest_;
};

template <class T, Recipe kR>
void apply(const Coefficients<T>& c, const Tile<T>& tile, std::size_t n, T gamma, T scale) {
  using D = FullTag<T>;
  const Tile<T> t = tile;
  if (c.usual() && scale == 1 && !t.tapped) {
    run(ApplyStep<D, kR, true>(c, gamma, scale), t, 0, n);
  } else {
    run(ApplyStep<D, kR, false>(c, gamma, scale), t, 0, n);
  }
}
