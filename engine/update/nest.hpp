#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "bcos/tensor.hpp"

namespace bcos {

/// The streams of a coordinate step, in the order in which tiles name them.
enum Stream { kX, kM, kV, kU, kTapG, kTapD, kTapV, kTapUpdate, kG, kOracle, kStreams };
inline constexpr int kWrittenStreams = kG;

/// How all streams of one parameter lie, as a nest of loops: dimensions in the order in which x
/// lies in memory, the innermost last. Neighbours that every stream walks as one are merged.
class Nest {
 public:
  struct Dim {
    std::uint64_t size;
    std::array<std::int64_t, kStreams> strides;
  };
  struct Layout {
    bool present = false;
    Dims strides = {};  ///< none: row-major
  };

  void reserve(std::size_t rank) { dims_.reserve(rank); }
  /// Allocates nothing after reserve(shape.size()). The shape has no dimension of size 0.
  void assign(Dims shape, const std::array<Layout, kStreams>& layouts);

  /// Whether all streams are one dense run in the same order.
  bool is_one_run() const;
  std::span<const Dim> dims() const { return dims_; }

 private:
  std::vector<Dim> dims_;
};

}  // namespace bcos
