// Blocks that lie side by side, each moved while the next one is summed: m and u go on before gamma
// is known, so that a step reads nothing twice from memory. Included inside the namespace of each
// target.

/// Takes the states of 16 elements a step further.
template <class T, bool kMomentum, bool kU>
class StateStep {
 public:
  static constexpr std::size_t kStride = kLanes;

  explicit BCOS_INLINE StateStep(const Coefficients<T>& c) : inputs_(c) {}

  BCOS_INLINE void operator()(const Streams<T>& s, std::size_t i) const {
    for (std::size_t j = 0; j < kLanes; j += lanes_of<D>()) {
      const auto value = inputs_.read(s, i + j);
      if constexpr (kMomentum) store(value.d, s.m + i + j);
      if constexpr (kU) store(value.u, s.u + i + j);
    }
  }

 private:
  using D = FullTag<T>;
  BlockInputs<D, kMomentum, kU, true> inputs_;
};

/// x along the direction that advancing has left in m; without momentum that is g.
template <class D, bool kMomentum, bool kScaled>
class MoveStep {
 public:
  using T = LaneOf<D>;
  using N = Pack<D>;
  static constexpr std::size_t kStride = lanes_of<D>();

  BCOS_INLINE MoveStep(const Coefficients<T>& c, T gamma, T scale)
      : keep_(splat(D(), c.keep)), gamma_(splat(D(), gamma)), scale_(splat(D(), scale)) {}

  BCOS_INLINE void operator()(const Streams<T>& s, std::size_t i) const {
    const N d = load(D(), (kMomentum ? s.m : s.g) + i);
    const N update = gamma_ * (kScaled ? d * scale_ : d);
    store(moved(load(D(), s.x + i), keep_, update), s.x + i);
  }

  BCOS_INLINE void lanes(const Streams<T>& s, std::size_t i) const {
    for (std::size_t j = 0; j < kLanes; j += kStride) (*this)(s, i + j);
  }

 private:
  N keep_, gamma_, scale_;
};

template <class T, class Move>
BCOS_INLINE void walk_moves(const Move& move, const Streams<T>& s, std::size_t n) {
  const std::size_t whole = n - n % kLanes;
  const std::size_t ahead = tuning().rows_ahead;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    prefetch_ahead<kLanes>(s.x, i, ahead);
    move.lanes(s, i);
  }
  if (whole < n) walk_dense(move, s.from(whole), n - whole);
}

template <class T, bool kMomentum>
void move(const Coefficients<T>& c, const Streams<T>& s, std::size_t n, T gamma, T scale) {
  walk_moves(MoveStep<FullTag<T>, kMomentum, true>(c, gamma, scale), s, n);
}

/// Moves nothing.
struct StayStep {
  template <class T>
  BCOS_INLINE void lanes(const Streams<T>&, std::size_t) const {}
};

/// Blocks that are advanced before they are moved.
template <class T, bool kMomentum, Estimate kEstimate, bool kU>
struct Sweeper {
  using Sum = SumStep<T, kMomentum, kEstimate, kU, true>;
  using State = StateStep<T, kMomentum, kU>;

  const Coefficients<T>& c;
  Streams<T> s;  ///< a copy, whose pointers no store can change
  Sums& sums;

  /// Advances elements [begin, end) behind `next`, a multiple of 16 of them, and moves as many
  /// behind `block`.
  template <class Move>
  BCOS_INLINE void run(std::size_t block, std::size_t next, std::size_t begin, std::size_t end,
                       const Move& move) const {
    Sum sum(c, 1.0, sums);
    const State state(c);
    const std::size_t ahead = tuning().rows_ahead;
    for (std::size_t i = begin; i < end; i += kLanes) {
      prefetch_ahead<kLanes>(s.x, block + i, ahead);
      sum(s, next + i);
      state(s, next + i);
      move.lanes(s, block + i);
    }
    sum.put(sums);
  }

  /// The last n elements of a block, fewer than 16.
  BCOS_INLINE void run_tail(std::size_t next, std::size_t n) const {
    if (n == 0) return;
    walk_sums(Sum(c, 1.0, sums), s.block_from(next), n, sums);
    walk_dense(State(c), s.block_from(next), n);
  }
};

template <class T, bool kMomentum, Estimate kEstimate, bool kU>
void advance(const Coefficients<T>& c, const Streams<T>& s, std::size_t n, Sums& sums) {
  const Sweeper<T, kMomentum, kEstimate, kU> sweeper{c, s, sums};
  const std::size_t whole = n - n % kLanes;
  sweeper.run(0, 0, 0, whole, StayStep());
  sweeper.run_tail(whole, n - whole);
}

template <class T, bool kMomentum, Estimate kEstimate, bool kU>
void sweep(const Coefficients<T>& c, const Streams<T>& s, std::size_t block, std::size_t next,
           std::size_t n, T gamma, Sums& sums) {
  const Sweeper<T, kMomentum, kEstimate, kU> sweeper{c, s, sums};
  const MoveStep<FullTag<T>, kMomentum, false> move(c, gamma, T{1});
  // The sums run ahead: a processor adds while it waits for gamma, and moves while it waits for
  // the sums. Half a page in long rows: where these lie whole pages apart, m is loaded from the
  // place where the next row's is stored.
  constexpr std::size_t kHalfPage = kPage / 2 / sizeof(T);
  const std::size_t whole = n - n % kLanes;
  const std::size_t quarter = whole / (4 * kLanes) * kLanes;
  const std::size_t lead = std::min(whole, std::clamp(quarter, 4 * kLanes, kHalfPage));
  sweeper.run(block, next, 0, lead, StayStep());
  sweeper.run(block - lead, next, lead, whole, move);  // unsigned: added to again from lead on
  sweeper.run_tail(next + whole, n - whole);
  walk_moves(move, s.block_from(block + whole - lead), n - whole + lead);
}
