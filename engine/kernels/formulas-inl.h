// The arithmetic of the family, each formula once. N is a number: float, double, or a vector of
// either. Every target includes this file in a namespace that has square_root, absolute and select
// for its numbers; so it has no include guard.

template <auto>
inline constexpr bool kNever = false;

/// What is squared into B.
template <New kB, class N>
BCOS_INLINE N fresh_part([[maybe_unused]] N m, [[maybe_unused]] N g, [[maybe_unused]] N d,
                         [[maybe_unused]] N beta) {
  if constexpr (kB == New::d_square) {
    return d;
  } else if constexpr (kB == New::g_square) {
    return g;
  } else if constexpr (kB == New::g_plus_beta_m_square) {
    return g + beta * m;
  } else {
    static_assert(kNever<kB>, "a new B needs its formula here");
  }
}

/// v = p A + q B.
template <Old kA, New kB, class N>
BCOS_INLINE N estimate(N m, N g, N d, [[maybe_unused]] N old_v, [[maybe_unused]] N p,
                       [[maybe_unused]] N q, N beta) {
  const N part = fresh_part<kB>(m, g, d, beta);
  if constexpr (kA == Old::nothing) {
    return part * part;
  } else if constexpr (kA == Old::m_square) {
    return p * (m * m) + q * (part * part);
  } else if constexpr (kA == Old::v) {
    return p * old_v + q * (part * part);
  } else {
    static_assert(kNever<kA>, "a new A needs its formula here");
  }
}

/// m and u: beta old + (1 - beta) value.
template <class N>
BCOS_INLINE N smoothed(N old, N value, N beta, N fresh) {
  return beta * old + fresh * value;
}

/// d / denominator, where 0/0 is 0 and a denominator that vanished leaves the sign of d.
template <class N>
BCOS_INLINE N ratio(N d, N denominator) {
  return select(denominator == zero_like(d), sign_of(d), d / denominator);
}

/// x after the step. The sum is right where 1 - delta rounds to 1.
template <class N>
BCOS_INLINE N moved(N x, N delta, N update) {
  return x - (delta * x + update);
}
