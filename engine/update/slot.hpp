#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bcos/update.hpp"
#include "engine/update/block_shape.hpp"
#include "engine/update/extents.hpp"
#include "engine/update/rounded.hpp"
#include "engine/update/strides.hpp"

namespace bcos {

using kernels::Stream;

/// A parameter in host memory, for good, and what it gets in the step at hand. T: the working type.
template <class T>
struct alignas(64) Slot {
  /// The views of the parameter outlive the slot.
  Slot(const Parameter& parameter, const Method& method, std::string_view label);

  // What ordinary coordinates need comes first: lists of thousands of small tensors read little
  // else of each.
  kernels::Tile<T> tile;             ///< all streams, from their first element on
  const Rounded<T>* step = nullptr;  ///< null: not in the step at hand
  const Method* method;
  // The gradient is checked when it, or what steps write, has changed since the step before.
  std::uint64_t checked_version = 0;
  bool in_place = false;  ///< all streams are one dense run in this step, in the order of the walk
  bool watched = false;   ///< there are taps or an oracle in this step
  bool states_dense = false;  ///< x and all states are one dense run in the order of the walk
  // For the backend's own use.
  bool in_call = false;
  bool settled = true;  ///< what is written is known to the plan
  std::vector<std::int64_t> checked_strides;

  // The rest.
  std::uint64_t first_square = 0;  ///< for the backend's own use
  std::uint64_t n = 0;
  std::string_view label;
  Dims shape;
  BlockShape blocks;
  /// Elements are walked block by block; coordinates as x lies in memory. So are all of these, but
  /// for streams with one number per block and for g_logical, whose order is the tensor's own.
  Strides strides[kernels::kStreams];
  Strides g_logical;
  std::uint64_t row = 1;  ///< elements of a block, or of a row of coordinates: see Patch

  bool is_coordinate() const { return blocks.kind() == BlockShape::Kind::coordinate; }
  /// Whether a block's elements lie one behind the other.
  bool has_dense_blocks() const { return in_place && blocks.kind() != BlockShape::Kind::lists; }
  /// Without the streams that have one number per block.
  kernels::Tile<T> elements() const;
  std::uint64_t bytes_per_step() const;

  /// Takes the gradient, oracle and taps of a step. Throws if one of them is misaligned, or lies on
  /// memory that steps write.
  void bind(const Gradient& given, const Extents& written);
  /// Adds what a step writes. On Error nothing was added.
  void register_in(Extents& written) const;

 private:
  void take(Stream stream, const TensorView& view);
  void take_gradient(const Gradient& given, const Extents& written);
  void watch(const Gradient& given);
  void check_alignment(Stream stream, std::string_view function) const;
  void check_apart(Stream stream, const Extents& written) const;
  void check_watchers(const Extents& written) const;
  void check_oracle() const;
  void find_rows();
  Region region(int stream) const { return {tile.data[stream], sizeof(T), strides[stream]}; }
  bool is_of_blocks(int stream) const;

  std::vector<std::size_t> order_;  ///< of dimensions in the walk
};

}  // namespace bcos
