#pragma once

#include <cstdint>
#include <span>

#include "engine/update/block_move.hpp"
#include "engine/update/slot.hpp"

namespace bcos {

/// Blocks of many coordinates in host memory: each is summed, gets its gamma, and moves.
template <class T>
class HostBlocks {
 public:
  /// Neighbouring columns share cache lines: so many of them are stepped together.
  static constexpr std::uint64_t kTogether = 64 / sizeof(T);
  /// Longer blocks are summed and applied by several tasks.
  static constexpr std::uint64_t kLong = 128 * 1024;

  HostBlocks(const kernels::Kernels<T>& kernels, std::size_t ahead)
      : kernels_(kernels), ahead_(ahead) {}

  /// Steps blocks [first, last).
  void step(const Slot<T>& slot, std::uint64_t first, std::uint64_t last) const;

  /// A dense block k so long that tasks share it, in three steps. parts: the sums of its chunks.
  void sum_parts(const Slot<T>& slot, std::uint64_t begin, std::uint64_t end,
                 std::span<kernels::Sums> parts) const;
  Move<T> move_of_parts(const Slot<T>& slot, std::uint64_t k,
                        std::span<const kernels::Sums> parts) const;
  void apply(const Slot<T>& slot, const Move<T>& move, std::uint64_t begin,
             std::uint64_t end) const;

 private:
  void step_dense(const Slot<T>& slot, std::uint64_t first, std::uint64_t last) const;
  void step_gathered(const Slot<T>& slot, std::uint64_t first, std::uint64_t last) const;
  /// A run of a block's elements: without what there is one of per block.
  kernels::Tile<T> tile(const Slot<T>& slot, std::uint64_t begin) const;
  kernels::Sums sum_dense(kernels::Recipe recipe, const kernels::Coefficients<T>& c,
                          const kernels::Tile<T>& block, std::uint64_t n, double scale) const;
  void apply(const Rounded<T>& step, const Move<T>& move, const kernels::Tile<T>& tile,
             std::uint64_t n) const;

  const kernels::Kernels<T>& kernels_;
  std::size_t ahead_;
};

inline std::uint64_t chunks_of(std::uint64_t n) { return (n + kSumChunk - 1) / kSumChunk; }

}  // namespace bcos
