#include "engine/update/host_blocks.hpp"

#include "engine/update/gathered_blocks.hpp"

namespace bcos {

using kernels::Coefficients;
using kernels::Recipe;
using kernels::Sums;
using kernels::Tile;

template <class T>
void HostBlocks<T>::step(const Slot<T>& slot, std::uint64_t first, std::uint64_t last) const {
  if (slot.has_dense_blocks()) {
    step_dense(slot, first, last);
  } else {
    step_gathered(slot, first, last);
  }
}

template <class T>
Tile<T> HostBlocks<T>::tile(const Slot<T>& slot, std::uint64_t begin) const {
  Tile<T> all = tile_of(slot);
  all.v = nullptr;
  all.oracle = nullptr;
  all.tap_v = nullptr;
  all.ahead = ahead_;
  return all.from(begin);
}

template <class T>
Sums HostBlocks<T>::sum_dense(Recipe recipe, const Coefficients<T>& c, const Tile<T>& block,
                              std::uint64_t n, double scale) const {
  const auto sum = kernels_.sum[recipe.index()];
  if (n <= kSumChunk) return sum(c, block, n, scale, nullptr);
  PairwiseSums total;
  for (std::uint64_t i = 0; i < n; i += kSumChunk) {
    total.add(sum(c, block.from(i), std::min(kSumChunk, n - i), scale, nullptr));
  }
  return total.total();
}

template <class T>
void HostBlocks<T>::apply(const Rounded<T>& step, const Move<T>& move, const Tile<T>& tile,
                          std::uint64_t n) const {
  const Coefficients<T>& c = move.starts ? step.c : step.started;
  kernels_.apply[step.recipe.index()](c, tile, n, move.gamma, move.scale);
}

template <class T>
void HostBlocks<T>::step_dense(const Slot<T>& slot, std::uint64_t first, std::uint64_t last) const {
  const Rounded<T>& step = *slot.step;
  const std::uint64_t n = slot.blocks.usual_length();
  const Tile<T> blocks = tile(slot, 0);
  for (std::uint64_t k = first; k < last; ++k) {
    const Tile<T> block = blocks.from(k * n);
    const auto sum = [&](Recipe recipe, const Coefficients<T>& c, double scale) {
      return sum_dense(recipe, c, block, n, scale);
    };
    apply(step, find_move(slot, k, n, sum), block, n);
  }
}

template <class T>
void HostBlocks<T>::sum_parts(const Slot<T>& slot, std::uint64_t begin, std::uint64_t end,
                              std::span<Sums> parts) const {
  const Rounded<T>& step = *slot.step;
  if (!step.recipe.sums()) return;
  const auto sum = kernels_.sum[step.recipe.index()];
  const std::uint64_t length = slot.blocks.usual_length();
  for (std::uint64_t i = begin, count = 0; i < end; i += count) {
    const std::uint64_t k = i / length;
    count = std::min({kSumChunk, (k + 1) * length - i, end - i});
    Tile<T> chunk = tile(slot, i);
    // The block does not stay in the cache until x moves.
    if (!step.started.coupled) chunk.x = nullptr;
    parts[k * chunks_of(length) + (i - k * length) / kSumChunk] =
        sum(step.started, chunk, count, 1, nullptr);
  }
}

template <class T>
Move<T> HostBlocks<T>::move_of_parts(const Slot<T>& slot, std::uint64_t k,
                                     std::span<const Sums> parts) const {
  const std::uint64_t n = slot.blocks.usual_length();
  PairwiseSums total;
  for (const Sums& part : parts) total.add(part);
  const Sums first = total.total();
  const auto sum = [&](Recipe recipe, const Coefficients<T>& c, double scale) {
    return sum_dense(recipe, c, tile(slot, k * n), n, scale);
  };
  return find_move(slot, k, n, sum, &first);
}

template <class T>
void HostBlocks<T>::apply(const Slot<T>& slot, const Move<T>& move, std::uint64_t begin,
                          std::uint64_t end) const {
  apply(*slot.step, move, tile(slot, begin), end - begin);
}

template <class T>
void HostBlocks<T>::step_gathered(const Slot<T>& slot, std::uint64_t first,
                                  std::uint64_t last) const {
  const bool lists = slot.blocks.kind() == BlockShape::Kind::lists;
  for (std::uint64_t k = first, count = 0; k < last; k += count) {
    count = lists ? 1 : std::min(kTogether, last - k);
    GatheredBlocks<T>(kernels_, slot, k, count).step();
  }
}

template class HostBlocks<float>;
template class HostBlocks<double>;

}  // namespace bcos
