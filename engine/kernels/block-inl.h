// Blocks of many coordinates: sums in float64 over a block, then the step with the block's own
// gamma. Included inside the namespace of each target.

/// Effective gradient, old states and direction of a vector of elements, in the working type.
template <class D, bool kMomentum, bool kU, bool kPlain>
class BlockInputs {
 public:
  using T = LaneOf<D>;
  using N = Pack<D>;

  explicit BCOS_INLINE BlockInputs(const Coefficients<T>& c)
      : coupled_(c.coupled),
        unstarted_(c.unstarted),
        adopt_(c.adopt),
        adopt_raw_(c.adopt_raw),
        factor_(splat(D(), c.factor)),
        lambda_(splat(D(), c.lambda)),
        beta_(splat(D(), c.beta)),
        fresh_(splat(D(), c.fresh)) {}

  struct Values {
    N g;
    N m;  ///< before the step
    N d;
    N u;  ///< after it
  };

  template <class Reach>
  BCOS_INLINE Values read(const Streams<T>& s, std::size_t i, const Reach& reach) const {
    const N given = reach.get(D(), s.g, i);
    const N raw = kPlain ? given : given * factor_;
    Values value{raw, zero_like(raw), raw, zero_like(raw)};
    if (!kPlain && coupled_) value.g = with_coupled_decay(raw, lambda_, reach.get(D(), s.x, i));
    N u = zero_like(raw);
    if (kPlain || !unstarted_) {
      if constexpr (kMomentum) value.m = reach.get(D(), s.m, i);
      if constexpr (kU) u = reach.get(D(), s.u, i);
    }
    if (!kPlain && adopt_) {
      value.m = adopt_raw_ ? raw : value.g;
      u = value.m;
    }
    value.d = kMomentum ? smoothed(value.m, value.g, beta_, fresh_) : value.g;
    if constexpr (kU) value.u = smoothed(u, value.d, beta_, fresh_);
    return value;
  }

 private:
  bool coupled_, unstarted_, adopt_, adopt_raw_;
  N factor_, lambda_, beta_, fresh_;
};

/// 16 lanes of float64 in as many vectors as that takes.
class LaneSums {
 public:
  using D = FullTag<double>;
  static constexpr std::size_t kVector = lanes_of<D>();
  static constexpr std::size_t kVectors = kLanes / kVector;

  BCOS_INLINE LaneSums() {
    for (std::size_t j = 0; j < kVectors; ++j) sum_[j] = splat(D(), 0.0);
  }
  explicit BCOS_INLINE LaneSums(const double (&lanes)[kLanes]) {
    for (std::size_t j = 0; j < kVectors; ++j) sum_[j] = load(D(), lanes + j * kVector);
  }
  BCOS_INLINE void add_square(std::size_t j, Pack<D> value) { sum_[j] = sum_[j] + value * value; }
  /// To the bit the same, of a value that was a float32: float64 holds its square.
  BCOS_INLINE void add_exact_square(std::size_t j, Pack<D> value) {
    sum_[j] = with_exact_product(sum_[j], value, value);
  }
  BCOS_INLINE void put(double (&lanes)[kLanes]) const {
    for (std::size_t j = 0; j < kVectors; ++j) store(sum_[j], lanes + j * kVector);
  }
  /// What `combine` makes of the lanes, without a way through memory.
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
template <class T, bool kMomentum, Estimate kEstimate, bool kU, bool kPlain>
class SumStep {
 public:
  using D = NarrowTag<T>;
  using Wide = Pack<FullTag<double>>;
  using Inputs = BlockInputs<D, kMomentum, kU, kPlain>;

  /// From nothing.
  BCOS_INLINE SumStep(const Coefficients<T>& c, double scale)
      : inputs_(c),
        scale_(splat(FullTag<double>(), scale)),
        beta_(splat(FullTag<double>(), c.beta_wide)),
        ahead_(tuning().rows_ahead) {}
  BCOS_INLINE SumStep(const Coefficients<T>& c, double scale, const Sums& sums)
      : SumStep(c, scale) {
    a_ = LaneSums(sums.a);
    b_ = LaneSums(sums.b);
    u_ = LaneSums(sums.u);
  }

  template <class Reach = Whole>
  BCOS_INLINE void operator()(const Streams<T>& s, std::size_t i, const Reach& reach = {}) {
    prefetch_ahead<kLanes>(s.g, i, ahead_);
    if constexpr (kMomentum) prefetch_ahead<kLanes>(s.m, i, ahead_);
    for (std::size_t j = 0; j < LaneSums::kVectors; ++j) {
      const auto value = inputs_.read(s, i + j * LaneSums::kVector, reach);
      if constexpr (reads_m(kEstimate)) {
        const Wide m = wide(value.m);
        const Wide g = wide(value.g);
        add_square(a_, j, m);
        if constexpr (kEstimate == Estimate::cond_full) {
          b_.add_square(j, shifted_gradient(g, m, beta_));
        } else {
          add_square(b_, j, g);
        }
      } else {
        add_square(b_, j, wide(kEstimate == Estimate::ema_g ? value.g : value.d));
      }
      if constexpr (kU) add_square(u_, j, wide(value.u));
    }
  }

  BCOS_INLINE void put(Sums& sums) const {
    if constexpr (reads_m(kEstimate)) a_.put(sums.a);
    b_.put(sums.b);
    if constexpr (kU) u_.put(sums.u);
  }

  BCOS_INLINE Totals totals() const {
    Totals totals;
    if constexpr (reads_m(kEstimate)) totals.a = a_.total();
    totals.b = b_.total();
    if constexpr (kU) totals.u = u_.total();
    return totals;
  }

 private:
  BCOS_INLINE Wide wide(typename Inputs::N value) const {
    return kPlain ? widen(value) : widen(value) * scale_;
  }
  static BCOS_INLINE void add_square(LaneSums& sums, std::size_t j, Wide value) {
    if constexpr (kPlain && sizeof(T) < sizeof(double)) {
      sums.add_exact_square(j, value);
    } else {
      sums.add_square(j, value);
    }
  }

  Inputs inputs_;
  Wide scale_, beta_;
  LaneSums a_, b_, u_;
  std::size_t ahead_;
};

template <class T, class Step>
BCOS_INLINE void walk_sums(Step step, const Streams<T>& s, std::size_t n, Sums& sums) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) step(s, i);
  if (i < n) step(s, i, FirstAlone<T>{n, T{0}});
  step.put(sums);
}

template <class T, bool kMomentum, Estimate kEstimate, bool kU>
void add_sums(const Coefficients<T>& c, const Streams<T>& s, std::size_t n, double scale,
              Sums& sums) {
  if (c.plain() && scale == 1) {
    walk_sums(SumStep<T, kMomentum, kEstimate, kU, true>(c, scale, sums), s, n, sums);
  } else {
    walk_sums(SumStep<T, kMomentum, kEstimate, kU, false>(c, scale, sums), s, n, sums);
  }
}

template <class D, bool kMomentum, bool kU, bool kPlain>
class ApplyStep {
 public:
  using T = LaneOf<D>;
  using N = Pack<D>;
  static constexpr std::size_t kStride = lanes_of<D>();

  BCOS_INLINE ApplyStep(const Coefficients<T>& c, T gamma, T scale)
      : inputs_(c),
        delta_(splat(D(), c.delta)),
        gamma_(splat(D(), gamma)),
        scale_(splat(D(), scale)),
        largest_(splat(D(), std::numeric_limits<T>::max())) {}

  BCOS_INLINE void operator()(const Streams<T>& s, std::size_t i) const {
    const auto value = inputs_.read(s, i, Whole());
    // Numbers near the end of the range have a gamma so small that it comes with a scale.
    const N d = kMomentum && !kPlain ? no_overflow(value) : value.d;
    const N update = gamma_ * (kPlain ? d : d * scale_);
    store(moved(load(D(), s.x + i), delta_, update), s.x + i);
    if constexpr (kMomentum) store(d, s.m + i);
    if constexpr (kU) store(value.u, s.u + i);
    if (!kPlain && s.tapped) tap(s, i, value.g, d, update);
  }

 private:
  using Inputs = BlockInputs<D, kMomentum, kU, kPlain>;

  /// A finite m and a finite g have a finite average.
  BCOS_INLINE N no_overflow(const typename Inputs::Values& value) const {
    const auto finite = both(absolute(value.m) <= largest_, absolute(value.g) <= largest_);
    const auto overflowed = both(finite, absolute(value.d) > largest_);
    return select(overflowed, copy_sign(largest_, value.d), value.d);
  }

  void tap(const Streams<T>& s, std::size_t i, N g, N d, N update) const {
    if (s.tap_g != nullptr) store(g, s.tap_g + i);
    if (s.tap_d != nullptr) store(d, s.tap_d + i);
    if (s.tap_update != nullptr) store(update, s.tap_update + i);
  }

  Inputs inputs_;
  N delta_, gamma_, scale_, largest_;
};

template <class T, bool kMomentum, bool kU>
void apply(const Coefficients<T>& c, const Streams<T>& s, std::size_t n, T gamma, T scale) {
  using D = FullTag<T>;
  if (c.plain() && scale == 1 && !s.tapped) {
    walk(c, s, n, [&](const Coefficients<T>& now) BCOS_LAMBDA {
      return ApplyStep<D, kMomentum, kU, true>(now, gamma, scale);
    });
  } else {
    walk(c, s, n, [&](const Coefficients<T>& now) BCOS_LAMBDA {
      return ApplyStep<D, kMomentum, kU, false>(now, gamma, scale);
    });
  }
}

template <class T>
void add_squares(const T* g, std::size_t n, double scale, double (&lanes)[kLanes]) {
  using D = NarrowTag<T>;
  LaneSums sums(lanes);
  const auto wide_scale = splat(FullTag<double>(), scale);
  const auto add = [&](std::size_t i, const auto& reach) BCOS_LAMBDA {
    for (std::size_t j = 0; j < LaneSums::kVectors; ++j) {
      sums.add_square(j, widen(reach.get(D(), g, i + j * LaneSums::kVector)) * wide_scale);
    }
  };
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    prefetch_ahead<kLanes>(g, i, 1024);
    add(i, Whole());
  }
  if (i < n) add(i, FirstAlone<T>{n, T{0}});
  sums.put(lanes);
}
