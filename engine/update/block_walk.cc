#include "engine/update/block_walk.hpp"

namespace bcos {
namespace {

using kernels::Coefficients;
using kernels::Recipe;
using kernels::Streams;

template <class T>
T clamped(double value) {
  constexpr double largest = std::numeric_limits<T>::max();
  return static_cast<T>(value > largest ? largest : value);
}

template <class T>
void store_v(const BlockStep<T>& step, const BlockMove<T>& move, T* v, T* tap_v) {
  if (v != nullptr && kernels::keeps_v(step.recipe.estimate)) *v = clamped<T>(move.v);
  if (tap_v != nullptr) *tap_v = clamped<T>(move.v);
}

template <class T>
double value_or_zero(const T* pointer) {
  return pointer == nullptr ? 0.0 : static_cast<double>(*pointer);
}

}  // namespace

template <class T>
BlockSums sum_dense(const BlockStep<T>& step, Recipe recipe, const Coefficients<T>& c,
                    const Streams<T>& block, std::uint64_t n, double scale) {
  const auto add_sums = step.kernels->add_sums[recipe.index()];
  return sum_in_chunks(n, [&](std::uint64_t i, std::uint64_t count) {
    kernels::Sums sums;
    add_sums(c, block.from(i), count, scale, sums);
    return combined(sums);
  });
}

template <class T>
void apply_move(const BlockStep<T>& step, const BlockMove<T>& move, const Streams<T>& piece,
                std::uint64_t n) {
  Coefficients<T> c = step.coefficients;
  c.adopt = move.adopt;
  const bool with_u = step.recipe.rule == StepRule::two_est;
  step.kernels->apply[step.recipe.momentum ? 1 : 0][with_u ? 1 : 0](c, piece, n, move.gamma,
                                                                    move.scale);
}

namespace {

/// Whether these sums are those that every step of the parameter begins with.
template <class T>
bool first_sums(const BlockStep<T>& step, Recipe recipe, const Coefficients<T>& c, double scale) {
  return recipe.index() == step.recipe.index() && scale == 1 && c.adopt == step.coefficients.adopt;
}

/// Finds the move of block k and keeps its v.
template <class T, class Sum>
BlockMove<T> found_move(const BlockStep<T>& step, const Streams<T>& base, std::uint64_t k,
                        std::uint64_t n, const Sum& sum) {
  T* const v = base.v == nullptr ? nullptr : base.v + k;
  const T* const oracle = base.oracle == nullptr ? nullptr : base.oracle + k;
  const BlockMove<T> move =
      BlockStepsize(step, n, sum).move(value_or_zero(v), value_or_zero(oracle));
  store_v(step, move, v, base.tap_v == nullptr ? nullptr : base.tap_v + k);
  return move;
}

/// Dense blocks of n elements whose states go on before their move is known, so that a block is
/// moved while the next one is summed and nothing is read twice from memory.
template <class T>
class SweptBlocks {
 public:
  SweptBlocks(const BlockStep<T>& step, const Streams<T>& base, std::uint64_t n)
      : step_(step), base_(base), n_(n) {}

  static bool possible(const BlockStep<T>& step, const Streams<T>& base) {
    return kernels::kAdvances<T> && kernels::needs_sums(step.recipe.estimate) &&
           step.coefficients.plain() && !base.tapped && !base.tiled;
  }

  void run(std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return;
    sums_ = advanced(begin);
    for (std::uint64_t k = begin; k < end; ++k) {
      const auto sum = [&](Recipe recipe, const Coefficients<T>& c, double scale) {
        return first_sums(step_, recipe, c, scale) ? sums_ : direction_sums(k, c, scale);
      };
      const BlockMove<T> move = found_move(step_, base_, k, n_, sum);
      if (k + 1 < end && move.scale == 1) {
        sums_ = swept(k, move.gamma);
        continue;
      }
      move_advanced(unmoved_.begin, unmoved_.end, unmoved_.gamma, 1);
      unmoved_ = {};
      move_advanced(k * n_, (k + 1) * n_, move.gamma, move.scale);
      if (k + 1 < end) sums_ = advanced(k + 1);
    }
  }

 private:
  BlockSums advanced(std::uint64_t k) const {
    const auto advance = step_.kernels->advance[step_.recipe.index()];
    return sum_in_chunks(n_, [&](std::uint64_t i, std::uint64_t count) {
      return advance(step_.coefficients, base_.block_from(k * n_ + i), count);
    });
  }

  /// Moves what is unmoved and most of block k, and advances the next one.
  BlockSums swept(std::uint64_t k, T gamma) {
    const auto sweep = step_.kernels->sweep[step_.recipe.index()];
    return sum_in_chunks(n_, [&](std::uint64_t i, std::uint64_t count) {
      return sweep(step_.coefficients, base_, k * n_ + i, (k + 1) * n_ + i, count, gamma, unmoved_);
    });
  }

  void move_advanced(std::uint64_t begin, std::uint64_t end, T gamma, T scale) const {
    const auto move = step_.kernels->move[step_.recipe.momentum ? 1 : 0];
    move(step_.coefficients, base_.block_from(begin), end - begin, gamma, scale);
  }

  /// All that is ever asked for besides the first sums: |d|^2, and d is in m by now.
  BlockSums direction_sums(std::uint64_t k, const Coefficients<T>& c, double scale) const {
    Streams<T> block = base_.block_from(k * n_);
    if (step_.recipe.momentum) block.g = block.m;
    const Recipe square{false, kernels::Estimate::instant, StepRule::sqrt};
    return sum_dense(step_, square, c, block, n_, scale);
  }

  const BlockStep<T>& step_;
  const Streams<T>& base_;
  std::uint64_t n_;
  BlockSums sums_;
  kernels::Unmoved<T> unmoved_;
};

}  // namespace

template <class T>
void step_dense_blocks(const BlockStep<T>& step, const BlockShape& blocks,
                       const BoundStreams<T>& streams, std::uint64_t begin, std::uint64_t end) {
  const Streams<T>& base = streams.base;
  const std::uint64_t n = blocks.length(0);
  if (SweptBlocks<T>::possible(step, base)) {
    SweptBlocks<T>(step, base, n).run(begin, end);
    return;
  }
  for (std::uint64_t k = begin; k < end; ++k) {
    const Streams<T> block = base.block_from(k * n);
    const auto sum = [&](Recipe recipe, const Coefficients<T>& c, double scale) {
      return sum_dense(step, recipe, c, block, n, scale);
    };
    apply_move(step, found_move(step, base, k, n, sum), block, n);
  }
}

template <class T>
BlockMove<T> large_block_move(const BlockStep<T>& step, const Streams<T>& base, std::uint64_t k,
                              std::uint64_t n, std::span<const BlockSums> chunks) {
  const auto sum = [&](Recipe recipe, const Coefficients<T>& c, double scale) {
    if (chunks.empty() || !first_sums(step, recipe, c, scale))
      return sum_dense(step, recipe, c, base.block_from(k * n), n, scale);
    BlockSummer total;
    for (const BlockSums& chunk : chunks) total.add(chunk);
    return total.total();
  };
  return found_move(step, base, k, n, sum);
}

namespace {

/// Up to 16 blocks of one length, copied to dense memory 256 elements at a time.
template <class T>
class GatheredBlocks {
 public:
  GatheredBlocks(const BlockStep<T>& step, const BlockShape& blocks, const BoundStreams<T>& streams,
                 std::uint64_t begin, std::uint64_t end)
      : step_(step), blocks_(blocks), streams_(streams), begin_(begin), count_(end - begin) {
    n_ = blocks.length(begin);
  }

  void run() {
    BlockMove<T> moves[kGatheredTogether];
    find_moves(moves);
    for (std::uint64_t i = 0; i < n_; i += kPart) {
      const std::uint64_t part = std::min(kPart, n_ - i);
      copy_in(i, part);
      for (std::uint64_t b = 0; b < count_; ++b) {
        apply_move(step_, moves[b], scratch_streams(b), part);
      }
      copy_out(i, part);
    }
  }

 private:
  static constexpr std::uint64_t kPart = 256;
  enum Stream { kX, kG, kM, kU, kTapG, kTapD, kTapUpdate, kStreams };

  void find_moves(BlockMove<T>* moves) {
    BlockSums together[kGatheredTogether];
    if (kernels::needs_sums(step_.recipe.estimate)) {
      sum_blocks(step_.recipe, step_.coefficients, 1.0, 0, count_, together);
    }
    for (std::uint64_t b = 0; b < count_; ++b) {
      const auto sum = [&](Recipe recipe, const Coefficients<T>& c, double scale) {
        if (first_sums(step_, recipe, c, scale)) return together[b];
        BlockSums alone[kGatheredTogether];
        sum_blocks(recipe, c, scale, b, b + 1, alone);
        return alone[b];
      };
      moves[b] = found_move(step_, streams_.base, begin_ + b, n_, sum);
    }
  }

  void sum_blocks(Recipe recipe, const Coefficients<T>& c, double scale, std::uint64_t first,
                  std::uint64_t last, BlockSums* sums) {
    BlockSummer totals[kGatheredTogether];
    for (std::uint64_t chunk = 0; chunk < n_; chunk += kSumChunk) {
      kernels::Sums chunks[kGatheredTogether];
      const std::uint64_t end = std::min(n_, chunk + kSumChunk);
      for (std::uint64_t i = chunk; i < end; i += kPart) {
        const std::uint64_t part = std::min(kPart, end - i);
        copy_in(i, part);
        for (std::uint64_t b = first; b < last; ++b) {
          step_.kernels->add_sums[recipe.index()](c, scratch_streams(b), part, scale, chunks[b]);
        }
      }
      for (std::uint64_t b = first; b < last; ++b) totals[b].add(chunks[b]);
    }
    for (std::uint64_t b = first; b < last; ++b) sums[b] = totals[b].total();
  }

  Streams<T> scratch_streams(std::uint64_t b) {
    const Streams<T>& base = streams_.base;
    Streams<T> s;
    s.x = scratch_[kX][b];
    s.g = scratch_[kG][b];
    if (base.m != nullptr) s.m = scratch_[kM][b];
    if (base.u != nullptr) s.u = scratch_[kU][b];
    if (base.tap_g != nullptr) s.tap_g = scratch_[kTapG][b];
    if (base.tap_d != nullptr) s.tap_d = scratch_[kTapD][b];
    if (base.tap_update != nullptr) s.tap_update = scratch_[kTapUpdate][b];
    s.tapped = base.tapped;
    return s;
  }

  /// Positions outside, blocks inside: neighbouring columns are neighbours in memory.
  void copy_in(std::uint64_t first, std::uint64_t part) {
    const Streams<T>& base = streams_.base;
    for (std::uint64_t i = 0; i < part; ++i) {
      for (std::uint64_t b = 0; b < count_; ++b) {
        const std::uint64_t index = blocks_.index(begin_ + b, first + i);
        scratch_[kX][b][i] = base.x[streams_.x->offset(index)];
        scratch_[kG][b][i] = base.g[streams_.g->offset(index)];
        if (base.m != nullptr) scratch_[kM][b][i] = base.m[streams_.m->offset(index)];
        if (base.u != nullptr) scratch_[kU][b][i] = base.u[streams_.u->offset(index)];
      }
    }
  }

  void copy_out(std::uint64_t first, std::uint64_t part) {
    const Streams<T>& base = streams_.base;
    for (std::uint64_t i = 0; i < part; ++i) {
      for (std::uint64_t b = 0; b < count_; ++b) {
        const std::uint64_t index = blocks_.index(begin_ + b, first + i);
        base.x[streams_.x->offset(index)] = scratch_[kX][b][i];
        if (base.m != nullptr) base.m[streams_.m->offset(index)] = scratch_[kM][b][i];
        if (base.u != nullptr) base.u[streams_.u->offset(index)] = scratch_[kU][b][i];
        if (base.tap_g != nullptr) base.tap_g[index] = scratch_[kTapG][b][i];
        if (base.tap_d != nullptr) base.tap_d[index] = scratch_[kTapD][b][i];
        if (base.tap_update != nullptr) base.tap_update[index] = scratch_[kTapUpdate][b][i];
      }
    }
  }

  const BlockStep<T>& step_;
  const BlockShape& blocks_;
  const BoundStreams<T>& streams_;
  std::uint64_t begin_;
  std::uint64_t count_;
  std::uint64_t n_;
  T scratch_[kStreams][kGatheredTogether][kPart];
};

}  // namespace

template <class T>
void step_gathered_blocks(const BlockStep<T>& step, const BlockShape& blocks,
                          const BoundStreams<T>& streams, std::uint64_t begin, std::uint64_t end) {
  while (begin < end) {
    std::uint64_t next = begin + 1;
    if (blocks.kind() != BlockShape::Kind::lists) next = std::min(end, begin + kGatheredTogether);
    GatheredBlocks<T>(step, blocks, streams, begin, next).run();
    begin = next;
  }
}

#define BCOS_INSTANTIATE(T)                                                                       \
  template BlockSums sum_dense(const BlockStep<T>&, Recipe, const Coefficients<T>&,               \
                               const Streams<T>&, std::uint64_t, double);                         \
  template void apply_move(const BlockStep<T>&, const BlockMove<T>&, const Streams<T>&,           \
                           std::uint64_t);                                                        \
  template void step_dense_blocks(const BlockStep<T>&, const BlockShape&, const BoundStreams<T>&, \
                                  std::uint64_t, std::uint64_t);                                  \
  template BlockMove<T> large_block_move(const BlockStep<T>&, const Streams<T>&, std::uint64_t,   \
                                         std::uint64_t, std::span<const BlockSums>);              \
  template void step_gathered_blocks(const BlockStep<T>&, const BlockShape&,                      \
                                     const BoundStreams<T>&, std::uint64_t, std::uint64_t);
BCOS_INSTANTIATE(float)
BCOS_INSTANTIATE(double)
#undef BCOS_INSTANTIATE

}  // namespace bcos
