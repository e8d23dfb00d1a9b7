// How a loop reaches the elements of its streams: whole vectors, or the last ones under a mask.

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

/// Elements up to n alone. Lanes behind them read `filler` and write nothing.
template <class T>
struct UpTo {
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

/// Asks memory for the lines of kCount elements of a stream, `ahead` bytes behind element i;
/// nothing is touched, so they may lie anywhere.
template <std::size_t kCount, Stream kS, class T>
BCOS_INLINE void ask_for(const Tile<T>& t, std::size_t i) {
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(t[kS] + i) + t.ahead;
  for (std::size_t line = 0; line < kCount * sizeof(T); line += 64) {
    __builtin_prefetch(reinterpret_cast<const void*>(begin + line), is_written(kS) ? 1 : 0);
  }
}

/// Writes what somebody wants to see.
template <Stream kS, class T, class Reach, class N>
BCOS_INLINE void tap(const Tile<T>& t, std::size_t i, const Reach& reach, N value) {
  if (t[kS] != nullptr) reach.put(value, t[kS], i);
}

/// Steps elements from i on, up to the first vector that the step refuses; returns where that is.
/// It calls no function, so that coefficients stay in registers.
template <class Step, class T>
BCOS_INLINE std::size_t run(const Step& step, const Tile<T>& t, std::size_t i, std::size_t n) {
  for (; i + Step::kStride <= n; i += Step::kStride) {
    step.ask_ahead(t, i);
    if (!step(t, i, Whole())) return i;
  }
  // Lanes behind the end hold 1, which is in range.
  return i < n && !step(t, i, UpTo<T>{n, T{1}}) ? i : n;
}
