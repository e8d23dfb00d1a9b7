// Blocks that lie side by side, each moved while the next one is summed: m and u go on before gamma
// is known, so that a step reads nothing twice from memory. Included inside the namespace of each
// target.

/// Takes the states of 16 elements a step further.
template <class T, bool kMomentum, bool kU>
class StateStep {
 public:
  explicit BCOS_INLINE StateStep(const Coefficients<T>& c) : inputs_(c) {}

  template <class Reach = Whole>
  BCOS_INLINE void operator()(const Streams<T>& s, std::size_t i, const Reach& reach = {}) const {
    for (std::size_t j = 0; j < kLanes; j += lanes_of<D>()) {
      const auto value = inputs_.read(s, i + j, reach);
      if constexpr (kMomentum) reach.put(value.d, s.m, i + j);
      if constexpr (kU) reach.put(value.u, s.u, i + j);
    }
  }

 private:
  using D = FullTag<T>;
  BlockInputs<D, kMomentum, kU, true> inputs_;
};

/// 16 elements of x along the direction that advancing has left in m; without momentum that is g.
template <class D, bool kMomentum, bool kScaled>
class MoveStep {
 public:
  using T = LaneOf<D>;
  using N = Pack<D>;

  BCOS_INLINE MoveStep(const Coefficients<T>& c, T gamma, T scale)
      : delta_(splat(D(), c.delta)),
        gamma_(splat(D(), gamma)),
        scale_(splat(D(), scale)),
        ahead_(tuning().rows_ahead) {}

  template <class Reach = Whole>
  BCOS_INLINE void operator()(const Streams<T>& s, std::size_t i, const Reach& reach = {}) const {
    prefetch_ahead<kLanes>(s.x, i, ahead_);
    for (std::size_t j = 0; j < kLanes; j += lanes_of<D>()) {
      const N d = reach.get(D(), kMomentum ? s.m : s.g, i + j);
      const N update = gamma_ * (kScaled ? d * scale_ : d);
      reach.put(moved(reach.get(D(), s.x, i + j), delta_, update), s.x, i + j);
    }
  }

 private:
  N delta_, gamma_, scale_;
  std::size_t ahead_;
};

template <class T, class Move>
BCOS_INLINE void walk_moves(const Move& move, const Streams<T>& s, std::size_t begin,
                            std::size_t end) {
  std::size_t i = begin;
  for (; i + kLanes <= end; i += kLanes) move(s, i);
  if (i < end) move(s, i, FirstAlone<T>{end, T{0}});
}

template <class T, bool kMomentum>
void move(const Coefficients<T>& c, const Streams<T>& s, std::size_t n, T gamma, T scale) {
  walk_moves(MoveStep<FullTag<T>, kMomentum, true>(c, gamma, scale), s, 0, n);
}

/// Moves nothing.
struct StayStep {
  template <class T>
  BCOS_INLINE void operator()(const Streams<T>&, std::size_t) const {}
};

/// Blocks that are advanced before they are moved.
template <class T, bool kMomentum, Estimate kEstimate, bool kU>
class Sweeper {
 public:
  BCOS_INLINE Sweeper(const Coefficients<T>& c, const Streams<T>& s)
      : s_(s), sum_(c, 1.0), state_(c) {}

  /// Advances elements [begin, end) behind `next`, a multiple of 16 of them, and moves as many
  /// behind `block`.
  template <class Move>
  BCOS_INLINE void run(std::size_t block, std::size_t next, std::size_t begin, std::size_t end,
                       const Move& move) {
    for (std::size_t i = begin; i < end; i += kLanes) {
      sum_(s_, next + i);
      state_(s_, next + i);
      move(s_, block + i);
    }
  }

  /// Advances the last elements of a block, fewer than 16; says what all of it sums up to.
  BCOS_INLINE Totals finish(std::size_t begin, std::size_t end) {
    if (begin < end) {
      const FirstAlone<T> rest{end, T{0}};
      sum_(s_, begin, rest);
      state_(s_, begin, rest);
    }
    return sum_.totals();
  }

 private:
  using Sum = SumStep<T, kMomentum, kEstimate, kU, true>;
  using State = StateStep<T, kMomentum, kU>;

  Streams<T> s_;  ///< a copy, whose pointers no store can change
  Sum sum_;
  State state_;
};

template <class T, bool kMomentum, Estimate kEstimate, bool kU>
Totals advance(const Coefficients<T>& c, const Streams<T>& s, std::size_t n) {
  Sweeper<T, kMomentum, kEstimate, kU> sweeper(c, s);
  const std::size_t whole = n - n % kLanes;
  sweeper.run(0, 0, 0, whole, StayStep());
  return sweeper.finish(whole, n);
}

/// How far the moves of a block of n elements, a multiple of 16, stay behind where the next one is
/// advanced: gamma is found meanwhile. Half a page in long ones, for m is stored where the block
/// before, if it lies whole pages away, has its own.
template <class T>
constexpr std::size_t lag_of(std::size_t n) {
  constexpr std::size_t kHalfPage = kPage / 2 / sizeof(T);
  const std::size_t quarter = n / (4 * kLanes) * kLanes;
  return std::min(n, std::clamp(quarter, 4 * kLanes, kHalfPage));
}

/// Blocks whose last elements wait for the next sweep. Shorter ones are still in the first-level
/// cache and are moved at once.
template <class T>
constexpr bool leaves_some(std::size_t n) {
  return n * sizeof(T) >= 2 * kPage;
}

template <class T, bool kMomentum, Estimate kEstimate, bool kU>
Totals sweep(const Coefficients<T>& c, const Streams<T>& s, std::size_t block, std::size_t next,
             std::size_t n, T gamma, Unmoved<T>& unmoved) {
  using Move = MoveStep<FullTag<T>, kMomentum, false>;
  Sweeper<T, kMomentum, kEstimate, kU> sweeper(c, s);
  const std::size_t whole = n - n % kLanes;
  const std::size_t lag = lag_of<T>(whole);
  const std::size_t left = unmoved.end - unmoved.begin;
  const std::size_t together = std::min(lag, left - left % kLanes);

  const Move move_left(c, unmoved.gamma, T{1});
  sweeper.run(unmoved.begin, next, 0, together, move_left);
  walk_moves(move_left, s, unmoved.begin + together, unmoved.end);
  sweeper.run(0, next, together, lag, StayStep());
  const Move move(c, gamma, T{1});
  sweeper.run(block - lag, next, lag, whole, move);  // unsigned: added to again from lag on
  const Totals totals = sweeper.finish(next + whole, next + n);
  unmoved = {block + whole - lag, block + n, gamma};
  if (!leaves_some<T>(n)) {
    walk_moves(move, s, unmoved.begin, unmoved.end);
    unmoved = {};
  }
  return totals;
}
