// The kernels of one target as a table. Included inside the namespace of each target.

template <class T, bool kMomentum, Estimate kEstimate, StepRule kRule>
constexpr void fill_recipe(Kernels<T>& table) {
  constexpr std::size_t index = Recipe{kMomentum, kEstimate, kRule}.index();
  constexpr bool needs_momentum = reads_m(kEstimate) || kEstimate == Estimate::ema_g;
  constexpr bool two_est_without_average =
      kRule == StepRule::two_est && kEstimate != Estimate::ema_d;
  if constexpr (!(needs_momentum && !kMomentum) && !two_est_without_average) {
    table.coordinate[index] = &coordinate<T, kMomentum, kEstimate, kRule>;
    if constexpr (needs_sums(kEstimate)) {
      constexpr bool kU = kRule == StepRule::two_est;
      table.add_sums[index] = &add_sums<T, kMomentum, kEstimate, kU>;
      if constexpr (kAdvances<T>) {
        table.advance[index] = &advance<T, kMomentum, kEstimate, kU>;
        table.sweep[index] = &sweep<T, kMomentum, kEstimate, kU>;
      }
    }
  }
}

template <class T, bool kMomentum, Estimate kEstimate>
constexpr void fill_rules(Kernels<T>& table) {
  fill_recipe<T, kMomentum, kEstimate, StepRule::sqrt>(table);
  fill_recipe<T, kMomentum, kEstimate, StepRule::two_est>(table);
  fill_recipe<T, kMomentum, kEstimate, StepRule::inv>(table);
}

template <class T, bool kMomentum>
constexpr void fill_estimates(Kernels<T>& table) {
  fill_rules<T, kMomentum, Estimate::constant>(table);
  fill_rules<T, kMomentum, Estimate::oracle>(table);
  fill_rules<T, kMomentum, Estimate::instant>(table);
  fill_rules<T, kMomentum, Estimate::ema_d>(table);
  fill_rules<T, kMomentum, Estimate::ema_g>(table);
  fill_rules<T, kMomentum, Estimate::cond_full>(table);
  fill_rules<T, kMomentum, Estimate::cond_pair>(table);
}

template <class T>
constexpr Kernels<T> make_kernels() {
  Kernels<T> table;
  fill_estimates<T, false>(table);
  fill_estimates<T, true>(table);
  table.apply[0][0] = &apply<T, false, false>;
  table.apply[0][1] = &apply<T, false, true>;
  table.apply[1][0] = &apply<T, true, false>;
  table.apply[1][1] = &apply<T, true, true>;
  if constexpr (kAdvances<T>) {
    table.move[0] = &move<T, false>;
    table.move[1] = &move<T, true>;
  }
  table.add_squares = &add_squares<T>;
  table.limit = &limit<T>;
  return table;
}
