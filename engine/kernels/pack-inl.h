// Numbers of a whole vector, on Highway. Included inside the namespace of each target.

template <class T>
using FullTag = hn::ScalableTag<T>;
/// As many lanes as a vector of double has.
template <class T>
using NarrowTag = hn::Rebind<T, hn::ScalableTag<double>>;

template <class D>
using LaneOf = hn::TFromD<D>;

template <class D>
constexpr std::size_t lanes_of() {
  return hn::MaxLanes(D());
}

template <class D>
struct Pack {
  hn::Vec<D> v;
};
template <class D>
struct PackMask {
  hn::Mask<D> m;
};

#define BCOS_PACK_OPERATOR(op, Function)                  \
  template <class D>                                      \
  BCOS_INLINE Pack<D> operator op(Pack<D> a, Pack<D> b) { \
    return {hn::Function(a.v, b.v)};                      \
  }
BCOS_PACK_OPERATOR(+, Add)
BCOS_PACK_OPERATOR(-, Sub)
BCOS_PACK_OPERATOR(*, Mul)
BCOS_PACK_OPERATOR(/, Div)
#undef BCOS_PACK_OPERATOR

#define BCOS_PACK_COMPARISON(op, Function)                    \
  template <class D>                                          \
  BCOS_INLINE PackMask<D> operator op(Pack<D> a, Pack<D> b) { \
    return {hn::Function(a.v, b.v)};                          \
  }
BCOS_PACK_COMPARISON(==, Eq)
BCOS_PACK_COMPARISON(<=, Le)
BCOS_PACK_COMPARISON(>=, Ge)
BCOS_PACK_COMPARISON(>, Gt)
#undef BCOS_PACK_COMPARISON

template <class D>
BCOS_INLINE bool all_true(PackMask<D> mask) {
  return hn::AllTrue(D(), mask.m);
}
template <class D>
BCOS_INLINE PackMask<D> both(PackMask<D> a, PackMask<D> b) {
  return {hn::And(a.m, b.m)};
}

template <class D>
BCOS_INLINE Pack<D> splat(D d, LaneOf<D> value) {
  return {hn::Set(d, value)};
}
template <class D>
BCOS_INLINE Pack<D> zero_like(Pack<D>) {
  return {hn::Zero(D())};
}
template <class D>
BCOS_INLINE Pack<D> load(D d, const LaneOf<D>* p) {
  return {hn::LoadU(d, p)};
}
template <class D>
BCOS_INLINE void store(Pack<D> a, LaneOf<D>* p) {
  hn::StoreU(a.v, D(), p);
}
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
/// The first n lanes from memory, the others `filler`; nothing behind them is touched.
template <class D>
BCOS_INLINE Pack<D> load_first(D d, const LaneOf<D>* p, std::size_t n, LaneOf<D> filler) {
  const auto mask = hn::FirstN(d, n);
  return {hn::IfThenElse(mask, hn::MaskedLoad(mask, d, p), hn::Set(d, filler))};
}
template <class D>
BCOS_INLINE void store_first(Pack<D> a, LaneOf<D>* p, std::size_t n) {
  hn::BlendedStore(a.v, hn::FirstN(D(), n), D(), p);
}
#else
// Masked loads of these targets read whole vectors.
template <class D>
BCOS_INLINE Pack<D> load_first(D d, const LaneOf<D>* p, std::size_t n, LaneOf<D> filler) {
  LaneOf<D> lanes[lanes_of<D>()];
  std::fill(lanes, lanes + lanes_of<D>(), filler);
  std::copy_n(p, n, lanes);
  return load(d, lanes);
}
template <class D>
BCOS_INLINE void store_first(Pack<D> a, LaneOf<D>* p, std::size_t n) {
  LaneOf<D> lanes[lanes_of<D>()];
  store(a, lanes);
  std::copy_n(lanes, n, p);
}
#endif
template <class D>
BCOS_INLINE Pack<D> square_root(Pack<D> a) {
  return {hn::Sqrt(a.v)};
}
template <class D>
BCOS_INLINE Pack<D> absolute(Pack<D> a) {
  return {hn::Abs(a.v)};
}
template <class D>
BCOS_INLINE Pack<D> select(PackMask<D> mask, Pack<D> yes, Pack<D> no) {
  return {hn::IfThenElse(mask.m, yes.v, no.v)};
}
template <class D>
BCOS_INLINE Pack<D> copy_sign(Pack<D> magnitude, Pack<D> sign) {
  return {hn::CopySign(magnitude.v, sign.v)};
}
/// -1, 0 or 1.
template <class D>
BCOS_INLINE Pack<D> sign_of(Pack<D> a) {
  return select(a == zero_like(a), a, copy_sign(splat(D(), 1), a));
}

/// The power of two s for which s * magnitude is in [1, 4), or the nearest there is.
template <class D>
BCOS_INLINE Pack<D> normalising_scale(Pack<D> magnitude) {
  using Limits = std::numeric_limits<LaneOf<D>>;
  const hn::RebindToSigned<D> integers;
  const auto bits_of = [&](LaneOf<D> value) { return hn::BitCast(integers, hn::Set(D(), value)); };
  const auto exponent = hn::And(hn::BitCast(integers, magnitude.v), bits_of(Limits::infinity()));
  const auto largest_power = bits_of(2 / Limits::min());
  const auto bits = hn::Max(hn::Sub(largest_power, exponent), bits_of(Limits::min()));
  return {hn::BitCast(D(), bits)};
}

/// The sum of the lanes, half by half: lane i and the one half a vector on, and so forth.
template <class D>
BCOS_INLINE LaneOf<D> folded(Pack<D> a) {
  if constexpr (lanes_of<D>() == 1) {
    return hn::GetLane(a.v);
  } else {
    const hn::Half<D> half;
    // Without hn: a single lane has no upper half by that name.
    return folded(Pack<hn::Half<D>>{hn::Add(LowerHalf(half, a.v), UpperHalf(half, a.v))});
  }
}

BCOS_INLINE Pack<FullTag<double>> widen(Pack<NarrowTag<float>> a) {
  return {hn::PromoteTo(FullTag<double>(), a.v)};
}
BCOS_INLINE Pack<FullTag<double>> widen(Pack<FullTag<double>> a) { return a; }
