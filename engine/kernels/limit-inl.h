// The streams of a step with next to no arithmetic: what memory allows. Included inside the
// namespace of each target.

template <class D, bool kM, bool kV>
struct LimitStep {
  using T = LaneOf<D>;
  static constexpr std::size_t kStride = lanes_of<D>();

  BCOS_INLINE void operator()(const Streams<T>& s, std::size_t i) const {
    const auto half = splat(D(), T(0.5));
    const auto g = load(D(), s.g + i);
    auto d = g;
    if constexpr (kM) {
      d = (load(D(), s.m + i) + g) * half;
      store(d, s.m + i);
    }
    if constexpr (kV) {
      d = (load(D(), s.v + i) + d) * half;
      store(d, s.v + i);
    }
    store(load(D(), s.x + i) - d, s.x + i);
  }
};

template <class T>
void limit(T* x, const T* g, T* m, T* v, std::size_t n) {
  using D = FullTag<T>;
  Streams<T> s;
  s.x = x;
  s.g = g;
  s.m = m;
  s.v = v;
  if (m != nullptr && v != nullptr) {
    walk_dense(LimitStep<D, true, true>(), s, n);
  } else if (m != nullptr) {
    walk_dense(LimitStep<D, true, false>(), s, n);
  } else if (v != nullptr) {
    walk_dense(LimitStep<D, false, true>(), s, n);
  } else {
    walk_dense(LimitStep<D, false, false>(), s, n);
  }
}
