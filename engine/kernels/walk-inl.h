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

/// Asks memory for the lines of kCount elements `ahead` bytes behind element i; nothing is touched,
/// so they may lie anywhere.
template <std::size_t kCount, class T>
BCOS_INLINE void ask_for(T* stream, std::size_t i, std::size_t ahead) {
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(stream + i) + ahead;
  for (std::size_t line = 0; line < kCount * sizeof(T); line += 64) {
    __builtin_prefetch(reinterpret_cast<const void*>(begin + line), std::is_const_v<T> ? 0 : 1);
  }
}
