// Numbers of one lane: the bits every vector target must reproduce. Included inside the namespace
// of the scalar kernels.

template <class T>
struct ScalarTag {
  using Lane = T;
};
template <class T>
using FullTag = ScalarTag<T>;
template <class T>
using NarrowTag = ScalarTag<T>;

template <class D>
using LaneOf = typename D::Lane;

template <class D>
constexpr std::size_t lanes_of() {
  return 1;
}

template <class D>
struct Pack {
  LaneOf<D> v;
};

#define BCOS_PACK_OPERATOR(op)                            \
  template <class D>                                      \
  BCOS_INLINE Pack<D> operator op(Pack<D> a, Pack<D> b) { \
    return {a.v op b.v};                                  \
  }
BCOS_PACK_OPERATOR(+)
BCOS_PACK_OPERATOR(-)
BCOS_PACK_OPERATOR(*)
BCOS_PACK_OPERATOR(/)
#undef BCOS_PACK_OPERATOR

#define BCOS_PACK_COMPARISON(op)                       \
  template <class D>                                   \
  BCOS_INLINE bool operator op(Pack<D> a, Pack<D> b) { \
    return a.v op b.v;                                 \
  }
BCOS_PACK_COMPARISON(==)
BCOS_PACK_COMPARISON(<=)
BCOS_PACK_COMPARISON(>=)
BCOS_PACK_COMPARISON(>)
#undef BCOS_PACK_COMPARISON

BCOS_INLINE bool all_true(bool mask) { return mask; }
BCOS_INLINE bool both(bool a, bool b) { return a && b; }

template <class D>
BCOS_INLINE Pack<D> splat(D, LaneOf<D> value) {
  return {value};
}
template <class D>
BCOS_INLINE Pack<D> zero_like(Pack<D>) {
  return {0};
}
template <class D>
BCOS_INLINE Pack<D> load(D, const LaneOf<D>* p) {
  return {*p};
}
template <class D>
BCOS_INLINE void store(Pack<D> a, LaneOf<D>* p) {
  *p = a.v;
}
/// n is 0 or 1: a scalar pack has one lane.
template <class D>
BCOS_INLINE Pack<D> load_first(D, const LaneOf<D>* p, std::size_t n, LaneOf<D> filler) {
  return {n == 0 ? filler : *p};
}
template <class D>
BCOS_INLINE void store_first(Pack<D> a, LaneOf<D>* p, std::size_t n) {
  if (n > 0) *p = a.v;
}
template <class D>
BCOS_INLINE Pack<D> square_root(Pack<D> a) {
  return {std::sqrt(a.v)};
}
template <class D>
BCOS_INLINE Pack<D> absolute(Pack<D> a) {
  return {std::fabs(a.v)};
}
template <class D>
BCOS_INLINE Pack<D> select(bool mask, Pack<D> yes, Pack<D> no) {
  return mask ? yes : no;
}
/// -1, 0 or 1.
template <class D>
BCOS_INLINE Pack<D> sign_of(Pack<D> a) {
  return {a.v == 0 ? a.v : std::copysign(LaneOf<D>{1}, a.v)};
}
template <class D>
BCOS_INLINE Pack<D> copy_sign(Pack<D> magnitude, Pack<D> sign) {
  return {std::copysign(magnitude.v, sign.v)};
}

/// The power of two s for which s * magnitude is in [1, 4), or the nearest there is.
template <class D>
BCOS_INLINE Pack<D> normalising_scale(Pack<D> magnitude) {
  using Format = FloatFormat<LaneOf<D>>;
  const auto exponent = std::bit_cast<typename Format::Bits>(magnitude.v) & Format::exponent_mask;
  const auto bits =
      std::max<typename Format::Bits>(Format::largest_power - exponent, Format::smallest_power);
  return {std::bit_cast<LaneOf<D>>(bits)};
}

template <class D>
BCOS_INLINE LaneOf<D> folded(Pack<D> a) {
  return a.v;
}

template <class T>
BCOS_INLINE Pack<ScalarTag<double>> widen(Pack<ScalarTag<T>> a) {
  return {static_cast<double>(a.v)};
}
