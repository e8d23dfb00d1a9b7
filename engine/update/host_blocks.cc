#include "engine/update/host_blocks.hpp"

#include "engine/update/patch.hpp"

namespace bcos {

using kernels::Coefficients;
using kernels::Recipe;
using kernels::Sums;
using kernels::Tile;

namespace {

template <class T>
void apply_move(const kernels::Kernels<T>& kernels, const Rounded<T>& step, const Move<T>& move,
                const Tile<T>& tile, std::uint64_t n) {
  const Coefficients<T>& c = move.starts ? step.c : step.started;
  kernels.apply[step.recipe.index()](c, tile, n, move.gamma, move.scale);
}

/// Blocks whose elements lie apart: several at a time are rows of a patch.
template <class T>
class ScatteredBlocks {
 public:
  ScatteredBlocks(const kernels::Kernels<T>& kernels, const Slot<T>& slot)
      : kernels_(kernels), slot_(slot), step_(*slot.step), patch_(slot) {}

  /// Steps `count` blocks of one length; at most kMost.
  void step(std::uint64_t first, std::uint64_t count) {
    first_ = first;
    count_ = count;
    n_ = slot_.blocks.length(first);
    Move<T> moves[kMost];
    find_moves(moves);
    const std::uint64_t most = patch_.most_columns(count_);
    for (std::uint64_t i = 0; i < n_; i += most) {
      const std::uint64_t n = std::min(most, n_ - i);
      patch_.open(first_, count_, i, n);
      for (std::uint64_t b = 0; b < count_; ++b) {
        apply_move(kernels_, step_, moves[b], patch_.tile(b), n);
      }
      patch_.close();
    }
  }

  static constexpr std::uint64_t kMost = Patch<T>::kRows;

 private:
  void find_moves(Move<T>* moves) {
    Sums first[kMost];
    if (step_.recipe.sums()) sum(step_.recipe, step_.started, 1, 0, count_, first);
    for (std::uint64_t b = 0; b < count_; ++b) {
      const auto sum_again = [&](Recipe recipe, const Coefficients<T>& c, double scale) {
        Sums alone[kMost];
        sum(recipe, c, scale, b, b + 1, alone);
        return alone[b];
      };
      moves[b] = find_move(slot_, first_ + b, n_, sum_again, &first[b]);
    }
  }

  /// The sums of blocks [from, to) of those that are stepped together.
  void sum(Recipe recipe, const Coefficients<T>& c, double scale, std::uint64_t from,
           std::uint64_t to, Sums* sums) {
    PairwiseSum<Sums> totals[kMost];
    const std::uint64_t most = patch_.most_columns(to - from);
    for (std::uint64_t chunk = 0; chunk < n_; chunk += kSumChunk) {
      kernels::Lanes lanes[kMost];
      const std::uint64_t end = std::min(n_, chunk + kSumChunk);
      for (std::uint64_t i = chunk; i < end; i += most) {
        const std::uint64_t n = std::min(most, end - i);
        patch_.open(first_ + from, to - from, i, n);
        for (std::uint64_t b = from; b < to; ++b) {
          sums[b] = kernels_.sum[recipe.index()](c, patch_.tile(b - from), n, scale, &lanes[b]);
        }
      }
      for (std::uint64_t b = from; b < to; ++b) totals[b].add(sums[b]);
    }
    for (std::uint64_t b = from; b < to; ++b) sums[b] = totals[b].total();
  }

  const kernels::Kernels<T>& kernels_;
  const Slot<T>& slot_;
  const Rounded<T>& step_;
  Patch<T> patch_;
  // The blocks that are stepped together.
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t n_ = 0;  ///< elements of each
};

}  // namespace

template <class T>
Move<T> HostBlocks<T>::move_of(std::uint64_t k, const Tile<T>& block, const Sums* first) const {
  const std::uint64_t n = slot_.row;
  const auto sum = [&](Recipe recipe, const Coefficients<T>& c, double scale) {
    const auto kernel = kernels_.sum[recipe.index()];
    if (n <= kSumChunk) return kernel(c, block, n, scale, nullptr);
    PairwiseSum<Sums> total;
    for (std::uint64_t i = 0; i < n; i += kSumChunk) {
      total.add(kernel(c, block.from(i), std::min(kSumChunk, n - i), scale, nullptr));
    }
    return total.total();
  };
  return find_move(slot_, k, n, sum, first);
}

template <class T>
void HostBlocks<T>::step(std::uint64_t first, std::uint64_t last) const {
  if (slot_.has_dense_blocks()) {
    for (std::uint64_t k = first; k < last; ++k) {
      const Tile<T> block = all_.from(k * slot_.row);
      apply_move(kernels_, step_, move_of(k, block), block, slot_.row);
    }
    return;
  }
  ScatteredBlocks<T> blocks(kernels_, slot_);
  const bool lists = slot_.blocks.kind() == BlockShape::Kind::lists;
  for (std::uint64_t k = first, count = 0; k < last; k += count) {
    count = lists ? 1 : std::min(blocks.kMost, last - k);
    blocks.step(k, count);
  }
}

template <class T>
void HostBlocks<T>::sum_parts(std::uint64_t begin, std::uint64_t end, std::span<Sums> parts) const {
  if (!step_.recipe.sums()) return;
  const auto sum = kernels_.sum[step_.recipe.index()];
  const std::uint64_t length = slot_.row;
  for (std::uint64_t i = begin, count = 0; i < end; i += count) {
    const std::uint64_t k = i / length;
    count = std::min({kSumChunk, (k + 1) * length - i, end - i});
    Tile<T> chunk = all_.from(i);
    // The block does not stay in the cache until x moves.
    if (!step_.started.coupled) chunk.data[kernels::kX] = nullptr;
    parts[k * chunks_of(length) + (i - k * length) / kSumChunk] =
        sum(step_.started, chunk, count, 1, nullptr);
  }
}

template <class T>
void HostBlocks<T>::find_moves(std::span<const Sums> parts, std::span<Move<T>> moves) const {
  const std::uint64_t chunks = chunks_of(slot_.row);
  for (std::uint64_t k = 0; k < moves.size(); ++k) {
    PairwiseSum<Sums> total;
    for (const Sums& part : parts.subspan(k * chunks, chunks)) total.add(part);
    const Sums first = total.total();
    moves[k] = move_of(k, all_.from(k * slot_.row), &first);
  }
}

template <class T>
void HostBlocks<T>::apply(std::span<const Move<T>> moves, std::uint64_t begin,
                          std::uint64_t end) const {
  while (begin < end) {
    const std::uint64_t k = begin / slot_.row;
    const std::uint64_t until = std::min(end, (k + 1) * slot_.row);
    apply_move(kernels_, step_, moves[k], all_.from(begin), until - begin);
    begin = until;
  }
}

template class HostBlocks<float>;
template class HostBlocks<double>;

}  // namespace bcos
