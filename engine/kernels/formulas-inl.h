// The arithmetic of the family, each formula once. N is a number: float, double, or a vector of
// either. Included inside a namespace that has square_root, absolute and select for its numbers; so
// that every instruction set compiles it with its own flags, there is no include guard.

template <class N>
BCOS_INLINE N with_coupled_decay(N raw, N lambda, N x) {
  return raw + lambda * x;
}

/// m, u: beta old + (1 - beta) new.
template <class N>
BCOS_INLINE N smoothed(N old, N fresh_value, N beta, N fresh) {
  return beta * old + fresh * fresh_value;
}

/// What cond_full squares next to m: with it v is a sum of squares, 2.4 form 4.
template <class N>
BCOS_INLINE N shifted_gradient(N g, N m, N beta) {
  return g + beta * m;
}

/// v of the moving averages and of the conditional estimators.
template <class N>
BCOS_INLINE N weighted(N p, N a, N q, N b) {
  return p * a + q * b;
}

template <class N>
BCOS_INLINE N rooted(N v, N eps_root) {
  return square_root(v + eps_root);
}

template <class N>
BCOS_INLINE N root_denominator(N v, N eps_root, N eps) {
  return rooted(v, eps_root) + eps;
}

template <class N>
BCOS_INLINE N plain_denominator(N v, N eps_root) {
  return v + eps_root;
}

/// d / denominator, where 0/0 is 0 and a denominator that vanished leaves the sign of d.
template <class N>
BCOS_INLINE N ratio(N d, N denominator) {
  return select(denominator == zero_like(d), sign_of(d), d / denominator);
}

template <class N>
BCOS_INLINE N moved(N x, N delta, N update) {
  return x - (delta * x + update);
}

/// The same from -update, to the bit.
template <class N>
BCOS_INLINE N moved_by(N x, N delta, N minus_update) {
  return x - (delta * x - minus_update);
}
