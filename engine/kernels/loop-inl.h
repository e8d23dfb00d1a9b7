// Walks over dense memory: whole vectors, then the rest under a mask or through a padded copy, so
// that every element goes through the same code and nothing behind the end is touched. Included
// inside the namespace of each target.

/// A load waits for earlier stores to the same place of any page.
constexpr std::size_t kPage = 4096;

/// How near prefetched lines come. In the second level they are in nobody's way.
enum class Cache { first, second };

/// Asks for the lines of kCount elements, which may lie anywhere: they are not touched. Several
/// streams at once are more than the hardware follows by itself when each begins at random.
template <std::size_t kCount, Cache kCache, class T>
BCOS_INLINE void prefetch(std::uintptr_t place) {
  for (std::size_t line = 0; line < kCount * sizeof(T); line += 64) {
    const void* const wanted = reinterpret_cast<const void*>(place + line);
    if constexpr (kCache == Cache::second) {
      __builtin_prefetch(wanted, 0, 2);
    } else {
      __builtin_prefetch(wanted, std::is_const_v<T> ? 0 : 1);
    }
  }
}

/// What kCount elements will need a little later, `ahead` bytes from here.
template <std::size_t kCount, Cache kCache = Cache::first, class T>
BCOS_INLINE void prefetch_ahead(T* stream, std::size_t i, std::size_t ahead) {
  prefetch<kCount, kCache, T>(reinterpret_cast<std::uintptr_t>(stream + i) + ahead);
}

/// How a step reaches the elements of its streams: whole vectors,
struct Whole {
  template <class D>
  BCOS_INLINE Pack<D> get(D d, const LaneOf<D>* stream, std::size_t i) const {
    return load(d, stream + i);
  }
  template <class D>
  BCOS_INLINE void put(Pack<D> value, LaneOf<D>* stream, std::size_t i) const {
    store(value, stream + i);
  }
};

/// or the first n elements alone, with `filler` behind them.
template <class T>
struct FirstAlone {
  std::size_t n;
  T filler;

  template <class D>
  BCOS_INLINE Pack<D> get(D d, const T* stream, std::size_t i) const {
    i = std::min(i, n);
    return load_first(d, stream + i, std::min(n - i, lanes_of<D>()), filler);
  }
  template <class D>
  BCOS_INLINE void put(Pack<D> value, T* stream, std::size_t i) const {
    i = std::min(i, n);
    store_first(value, stream + i, std::min(n - i, lanes_of<D>()));
  }
};

/// A copy of up to L elements of every stream, 0 behind the end.
template <class T, std::size_t L>
class PaddedTail {
 public:
  PaddedTail(const Streams<T>& source, std::size_t n) : source_(source), n_(n) {
    take(source.x, buffer_[0], padded_.x);
    take(source.m, buffer_[1], padded_.m);
    take(source.v, buffer_[2], padded_.v);
    take(source.u, buffer_[3], padded_.u);
    take(source.g, buffer_[4], padded_.g);
    take(source.oracle, buffer_[5], padded_.oracle);
    padded_.tapped = source.tapped;
    if (source.tapped) {
      take(source.tap_g, buffer_[6], padded_.tap_g);
      take(source.tap_d, buffer_[7], padded_.tap_d);
      take(source.tap_v, buffer_[8], padded_.tap_v);
      take(source.tap_update, buffer_[9], padded_.tap_update);
    }
  }

  const Streams<T>& streams() const { return padded_; }

  void put_back() const {
    give(padded_.x, source_.x);
    give(padded_.m, source_.m);
    give(padded_.v, source_.v);
    give(padded_.u, source_.u);
    if (source_.tapped) {
      give(padded_.tap_g, source_.tap_g);
      give(padded_.tap_d, source_.tap_d);
      give(padded_.tap_v, source_.tap_v);
      give(padded_.tap_update, source_.tap_update);
    }
  }

 private:
  template <class P>
  void take(const T* from, T (&buffer)[L], P*& pointer) {
    if (from == nullptr) return;
    std::fill(buffer, buffer + L, T{0});
    std::memcpy(buffer, from, n_ * sizeof(T));
    pointer = buffer;
  }
  void give(const T* from, T* to) const {
    if (to == nullptr) return;
    std::memcpy(to, from, n_ * sizeof(T));
  }

  Streams<T> source_;
  std::size_t n_;
  Streams<T> padded_;
  T buffer_[10][L];
};

template <class T, class Step>
BCOS_INLINE void walk_dense(const Step& step, const Streams<T>& s, std::size_t n) {
  constexpr std::size_t L = Step::kStride;
  std::size_t i = 0;
  for (; i + L <= n; i += L) step(s, i);
  if (i < n) {
    PaddedTail<T, L> tail(s.from(i), n - i);
    step(tail.streams(), 0);
    tail.put_back();
  }
}

/// x from what a tile has gathered. Meanwhile the other streams of the next tile come nearer.
template <class T>
class TileMove {
 public:
  explicit BCOS_INLINE TileMove(T delta) : delta_(splat(D(), delta)), ahead_(tuning().ahead) {}

  BCOS_INLINE void operator()(const Streams<T>& s, const T* minus_update, std::size_t n) const {
    constexpr std::size_t L = lanes_of<D>();
    const std::size_t next = n * sizeof(T);
    std::size_t i = 0;
    for (; i + L <= n; i += L) {
      prefetch_ahead<L>(s.x, i, ahead_);
      prefetch_ahead<L, Cache::second>(s.g, i, next);
      if (s.m != nullptr) prefetch_ahead<L, Cache::second>(s.m, i, next);
      if (s.v != nullptr) prefetch_ahead<L, Cache::second>(s.v, i, next);
      move(s.x, minus_update, i, Whole());
    }
    if (i < n) move(s.x, minus_update, i, FirstAlone<T>{n, T{0}});
  }

 private:
  using D = FullTag<T>;

  template <class Reach>
  BCOS_INLINE void move(T* x, const T* minus_update, std::size_t i, const Reach& reach) const {
    const auto update = reach.get(D(), minus_update, i);
    reach.put(moved_by(reach.get(D(), x, i), delta_, update), x, i);
  }

  Pack<D> delta_;
  std::size_t ahead_;
};

/// For states that fall on the cache sets of x: a page of them goes on first, with -0 for x and no
/// decay, which leaves -update in its place; then x takes it. So the two are never wanted at once.
/// A v may collide with m as well and is copied. step_states: a function (coefficients, streams of
/// the tile with -update for x, x itself, elements).
template <class T, class StepStates>
BCOS_INLINE void walk_tiles(const Coefficients<T>& c, const Streams<T>& s, std::size_t n,
                            const StepStates& step_states) {
  constexpr std::size_t kTile = kPage / sizeof(T);
  // In their pages where x and the states are in theirs.
  alignas(kPage) T minus_updates[kTile];
  alignas(kPage) T vs[kTile];
  Coefficients<T> without_decay = c;
  without_decay.delta = 0;
  const TileMove<T> move(c.delta);
  // Tiles end where pages do, and with them what the hardware fetches ahead.
  std::size_t into_page = reinterpret_cast<std::uintptr_t>(s.x) % kPage / sizeof(T);
  std::size_t count = 0;
  for (std::size_t i = 0; i < n; i += count) {
    count = std::min(kTile - into_page, n - i);
    T* const minus_update = minus_updates + into_page;
    T* const v = vs + into_page;
    into_page = 0;
    const Streams<T> in_memory = s.from(i);
    Streams<T> tile = in_memory;
    tile.x = minus_update;
    std::fill(minus_update, minus_update + count, T(-0.0));
    if (s.v != nullptr) {
      tile.v = v;
      std::memcpy(v, in_memory.v, count * sizeof(T));
    }
    step_states(without_decay, tile, in_memory.x, count);
    if (s.v != nullptr) std::memcpy(in_memory.v, v, count * sizeof(T));
    move(in_memory, minus_update, count);
  }
}

/// Coupled decay wants x together with its states, wherever they lie.
template <class T>
BCOS_INLINE bool goes_through_tiles(const Coefficients<T>& c, const Streams<T>& s) {
  return s.tiled && !c.coupled;
}

/// make_step: the step of these coefficients.
template <class T, class MakeStep>
BCOS_INLINE void walk(const Coefficients<T>& c, const Streams<T>& s, std::size_t n,
                      const MakeStep& make_step) {
  if (goes_through_tiles(c, s)) {
    walk_tiles(c, s, n,
               [&](const Coefficients<T>& coefficients, const Streams<T>& tile, const T*,
                   std::size_t count)
                   BCOS_LAMBDA { walk_dense(make_step(coefficients), tile, count); });
  } else {
    walk_dense(make_step(c), s, n);
  }
}
