// What a step reads of a vector of elements, and its direction d: for coordinates, sums and apply.

/// kQuick: Coefficients::usual(). kBlock: v is one number per block and not read here, and whether
/// a block starts is decided for the whole of it.
template <class D, Recipe kR, bool kQuick, bool kBlock>
class Inputs {
 public:
  using T = LaneOf<D>;
  using N = Pack<D>;

  explicit BCOS_INLINE Inputs(const Coefficients<T>& c)
      : c_(c),
        factor_(splat(D(), c.factor)),
        lambda_(splat(D(), c.lambda)),
        beta_(splat(D(), c.beta)),
        fresh_(splat(D(), c.fresh)) {}

  struct Values {
    N g;        ///< scaled, with lambda x if decay is coupled
    N m, v, u;  ///< before the step
    N d;
  };

  template <class Reach>
  BCOS_INLINE Values read(const Tile<T>& t, std::size_t i, const Reach& reach) const {
    N raw = reach.get(D(), t[kG], i) * factor_;
    if (!kQuick && c_.second_factor != 1) raw = raw * splat(D(), c_.second_factor);
    Values now{raw, zero_like(raw), zero_like(raw), zero_like(raw), raw};
    if (!kQuick && c_.coupled) now.g = raw + lambda_ * reach.get(D(), t[kX], i);
    if (kR.momentum && (kQuick || c_.reads_m)) now.m = reach.get(D(), t[kM], i);
    if (kR.keeps_v() && !kBlock && (kQuick || c_.reads_v)) now.v = reach.get(D(), t[kV], i);
    if (kR.keeps_u() && (kQuick || c_.reads_u)) now.u = reach.get(D(), t[kU], i);
    if (!kQuick && c_.starts_from_gradient) start(now, c_.starts_from_raw ? raw : now.g);
    now.d = kR.momentum ? smoothed(now.m, now.g, beta_, fresh_) : now.g;
    return now;
  }

  BCOS_INLINE N new_u(const Values& now) const { return smoothed(now.u, now.d, beta_, fresh_); }
  BCOS_INLINE N beta() const { return beta_; }

 private:
  BCOS_INLINE void start(Values& now, N first) const {
    if constexpr (kBlock) {
      now.m = now.u = first;
    } else {
      const N largest = splat(D(), std::numeric_limits<T>::max());
      const N square = first * first;
      const auto empty = (kR.keeps_v() ? now.v : now.m) == zero_like(first);
      now.m = select(empty, first, now.m);
      now.v = select(empty, select(square > largest, largest, square), now.v);
      now.u = select(empty, first, now.u);
    }
  }

  const Coefficients<T>& c_;
  N factor_, lambda_, beta_, fresh_;
};
