#pragma once

#include <cstdint>
#include <span>

#include "engine/update/block_move.hpp"
#include "engine/update/slot.hpp"

namespace bcos {

inline std::uint64_t chunks_of(std::uint64_t n) { return (n + kSumChunk - 1) / kSumChunk; }

/// The blocks of a slot in the step at hand: each is summed, gets its gamma, and moves.
template <class T>
class HostBlocks {
 public:
  /// Longer blocks are summed and applied by several tasks, if they are dense.
  static constexpr std::uint64_t kLong = 128 * 1024;

  HostBlocks(const kernels::Kernels<T>& kernels, const Slot<T>& slot)
      : kernels_(kernels), slot_(slot), step_(*slot.step), all_(slot.elements()) {}

  /// Steps blocks [first, last).
  void step(std::uint64_t first, std::uint64_t last) const;

  /// The same for dense blocks in parts, in three steps; begin and end count elements. parts: the
  /// sums of chunks.
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

}  // namespace bcos
