#pragma once

#include <cstdint>
#include <span>

#include "engine/update/block_move.hpp"
#include "engine/update/patch.hpp"

namespace bcos {

inline std::uint64_t chunks_of(std::uint64_t n) { return (n + kSumChunk - 1) / kSumChunk; }

/// Dense blocks of a slot in the step at hand: each is summed, gets its gamma, and moves.
template <class T>
class DenseBlocks {
 public:
  /// Longer blocks are summed and applied by several tasks.
  static constexpr std::uint64_t kLong = 128 * 1024;

  DenseBlocks(const kernels::Kernels<T>& kernels, const Slot<T>& slot)
      : kernels_(kernels), slot_(slot), step_(*slot.step), all_(slot.elements()) {}

  /// Steps blocks [first, last).
  void step(std::uint64_t first, std::uint64_t last) const;

  /// The same in parts, in three steps; begin and end count elements. parts: the sums of chunks.
  void sum_parts(std::uint64_t begin, std::uint64_t end, std::span<kernels::Sums> parts) const;
  void find_moves(std::span<const kernels::Sums> parts, std::span<Move<T>> moves) const;
  void apply(std::span<const Move<T>> moves, std::uint64_t begin, std::uint64_t end) const;

 private:
  Move<T> move_of(std::uint64_t k, const kernels::Tile<T>& block,
                  const kernels::Sums* first = nullptr) const;

  const kernels::Kernels<T>& kernels_;
  const Slot<T>& slot_;
  const Rounded<T>& step_;
  kernels::Tile<T> all_;
};

/// Blocks whose elements lie apart: a patch of several at a time is summed and moved.
template <class T>
class ScatteredBlocks {
 public:
  ScatteredBlocks(const kernels::Kernels<T>& kernels, const Slot<T>& slot)
      : kernels_(kernels), slot_(slot), step_(*slot.step), patch_(slot) {}

  /// Steps blocks [first, last).
  void step(std::uint64_t first, std::uint64_t last);

 private:
  static constexpr std::uint64_t kMost = Patch<T>::kRows;

  void step_together();
  void find_moves(Move<T>* moves);
  void sum(kernels::Recipe recipe, const kernels::Coefficients<T>& c, double scale,
           std::uint64_t from, std::uint64_t to, kernels::Sums* sums);

  const kernels::Kernels<T>& kernels_;
  const Slot<T>& slot_;
  const Rounded<T>& step_;
  Patch<T> patch_;
  // The blocks that are stepped together.
  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t n_ = 0;  ///< elements of each
};

}  // namespace bcos
