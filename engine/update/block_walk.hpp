#pragma once

#include <cstdint>
#include <span>

#include "engine/update/block_shape.hpp"
#include "engine/update/block_stepsize.hpp"
#include "engine/update/tensor_layout.hpp"

namespace bcos {

/// A parameter's memory in a step, wherever its elements lie.
template <class T>
struct BoundStreams {
  kernels::Streams<T> base;  ///< first elements
  const TensorLayout* x = nullptr;
  const TensorLayout* g = nullptr;
  const TensorLayout* m = nullptr;
  const TensorLayout* u = nullptr;
  bool dense = false;  ///< all of them are
};

/// Sums of a dense block: chunks of kSumChunk, added pairwise.
template <class T>
BlockSums sum_dense(const BlockStep<T>& step, kernels::Recipe recipe,
                    const kernels::Coefficients<T>& c, const kernels::Streams<T>& block,
                    std::uint64_t n, double scale);

/// Steps blocks [begin, end) that lie dense in memory, each in one go while it is in the cache.
template <class T>
void step_dense_blocks(const BlockStep<T>& step, const BlockShape& blocks,
                       const BoundStreams<T>& streams, std::uint64_t begin, std::uint64_t end);

/// The same for blocks whose elements are apart: columns, lists, strided tensors.
template <class T>
void step_gathered_blocks(const BlockStep<T>& step, const BlockShape& blocks,
                          const BoundStreams<T>& streams, std::uint64_t begin, std::uint64_t end);

/// Blocks that are gathered together: neighbouring columns share their cache lines.
inline constexpr std::uint64_t kGatheredTogether = 16;

/// A block too long for one task: its chunks are summed by many, then its move is found, then
/// applied by many.
template <class T>
BlockMove<T> large_block_move(const BlockStep<T>& step, const kernels::Streams<T>& base,
                              std::uint64_t k, std::uint64_t n, std::span<const BlockSums> chunks);
template <class T>
void apply_move(const BlockStep<T>& step, const BlockMove<T>& move,
                const kernels::Streams<T>& piece, std::uint64_t n);

}  // namespace bcos
