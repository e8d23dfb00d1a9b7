// The kernels of one target as a table over Recipe::index().

/// Recipes that sum alike share one kernel: the rule counts only by whether it keeps u, and the
/// stored v is no part of the sums.
constexpr Recipe summed_as(Recipe r) {
  if (!r.keeps_u()) r.rule = StepRule::sqrt;
  if (r.keeps_v() && !r.unbounded() && !r.keeps_u()) r.a = Old::nothing;
  return r;
}

/// Only momentum and u change how a gamma is applied.
constexpr Recipe applied_as(Recipe r) {
  if (r.keeps_u()) return {r.momentum, Old::v, New::d_square, StepRule::two_est};
  return {r.momentum, Old::nothing, New::d_square, StepRule::sqrt};
}

template <class T, std::size_t kIndex>
constexpr void fill_recipe(Kernels<T>& table) {
  constexpr Recipe kR = Recipe::at(kIndex);
  if constexpr (kR.valid()) {
    table.coordinate[kIndex] = &coordinate<T, kR>;
    if constexpr (kR.sums()) table.sum[kIndex] = &sum_run<T, summed_as(kR)>;
    table.apply[kIndex] = &apply<T, applied_as(kR)>;
  }
}

template <class T, std::size_t... kIndices>
constexpr Kernels<T> make_kernels(std::index_sequence<kIndices...>) {
  Kernels<T> table;
  (fill_recipe<T, kIndices>(table), ...);
  return table;
}

template <class T>
constexpr Kernels<T> make_kernels() {
  return make_kernels<T>(std::make_index_sequence<Recipe::kCount>());
}
