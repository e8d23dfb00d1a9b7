// Walks a step over dense memory: whole vectors, then the rest through a padded copy, so that
// every element goes through the same code and nothing behind the end is touched. Included inside
// the namespace of each target.

/// Asks for the lines that kCount elements will need a little later, kAhead bytes from here. Several
/// streams at once are more than the hardware follows by itself when each begins at random; what
/// lies behind the end of an array is asked for in vain, and not touched. Farther ahead hinders
/// processors that have as much under way as they can.
template <std::size_t kCount, std::size_t kAhead = 512, class T>
BCOS_INLINE void prefetch_ahead(T* stream, std::size_t i) {
  const char* const place = reinterpret_cast<const char*>(stream + i) + kAhead;
  for (std::size_t line = 0; line < kCount * sizeof(T); line += 64) {
    __builtin_prefetch(place + line, std::is_const_v<T> ? 0 : 1);
  }
}

/// A copy of up to L elements of every stream, zero behind the end.
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
    for (std::size_t i = 0; i < L; ++i) buffer[i] = i < n_ ? from[i] : T{0};
    pointer = buffer;
  }
  void give(const T* from, T* to) const {
    if (to == nullptr) return;
    for (std::size_t i = 0; i < n_; ++i) to[i] = from[i];
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

/// Not to the first level, where it would push out the x that it collides with.
template <std::size_t kCount, class T>
BCOS_INLINE void prefetch_to_second_level(const T* place) {
  constexpr std::size_t kLine = 64 / sizeof(T);
  for (std::size_t i = 0; i < kCount; i += kLine) __builtin_prefetch(place + i, 0, 2);
}

/// States that fall on the cache sets of x are copied through a tile that does not.
template <class T, class Walk>
BCOS_INLINE void walk_tiles(const Streams<T>& s, std::size_t n, const Walk& walk_tile) {
  constexpr std::size_t kTile = 256;
  alignas(64) T m[kTile];
  alignas(64) T v[kTile];
  std::size_t i = 0;
  for (; i + kTile <= n; i += kTile) {
    Streams<T> tile = s.from(i);
    if (s.m != nullptr) {
      prefetch_to_second_level<kTile>(s.m + i + 2 * kTile);
      std::memcpy(m, s.m + i, sizeof(m));
      tile.m = m;
    }
    if (s.v != nullptr) {
      prefetch_to_second_level<kTile>(s.v + i + 2 * kTile);
      std::memcpy(v, s.v + i, sizeof(v));
      tile.v = v;
    }
    walk_tile(tile, kTile);
    if (s.m != nullptr) std::memcpy(s.m + i, m, sizeof(m));
    if (s.v != nullptr) std::memcpy(s.v + i, v, sizeof(v));
  }
  if (i < n) walk_tile(s.from(i), n - i);
}

template <class T, class Step>
BCOS_INLINE void walk(const Step& step, const Streams<T>& s, std::size_t n) {
  if (s.tiled) {
    walk_tiles(s, n, [&](const Streams<T>& tile, std::size_t count) BCOS_LAMBDA {
      walk_dense(step, tile, count);
    });
  } else {
    walk_dense(step, s, n);
  }
}
