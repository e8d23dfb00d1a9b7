#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bcos/update.hpp"
#include "engine/update/block_shape.hpp"
#include "engine/update/extents.hpp"
#include "engine/update/nest.hpp"
#include "engine/update/rounded.hpp"
#include "engine/update/strides.hpp"

namespace bcos {

/// A parameter in host memory, for good, and what it gets in the step at hand. T: the working type.
template <class T>
struct alignas(64) Slot {
  /// The views of the parameter outlive the slot.
  Slot(const Parameter& parameter, const Method& method, std::string_view label);

  // All that ordinary coordinates need: lists of thousands of small tensors read one line of each.
  T* x = nullptr;
  T* m = nullptr;
  T* v = nullptr;
  T* u = nullptr;
  const T* g = nullptr;
  std::uint64_t n = 0;
  const Rounded<T>* step = nullptr;  ///< null: not in the step at hand
  bool in_place = false;      ///< coordinates, all of whose streams are one dense run in this step
  bool watched = false;       ///< there are taps or an oracle in this step
  bool in_call = false;       ///< for the backend's own use
  bool states_dense = false;  ///< x and all states are row-major

  // What most steps look at besides.
  const Gradient* gradient = nullptr;

 private:
  // The gradient's place that was checked last: that of most steps.
  const void* checked_data_ = nullptr;
  std::vector<std::int64_t> checked_strides_;
  std::uint64_t checked_version_ = 0;

 public:
  const Method* method;
  std::string_view label;
  BlockShape blocks;
  Dims shape;
  Strides x_strides, m_strides, v_strides, u_strides, g_strides;
  Nest nest;  ///< of coordinates in the step at hand, unless all is row-major

  /// Whether a block's elements lie one behind the other.
  bool has_dense_blocks() const {
    return blocks.kind() == BlockShape::Kind::contiguous && states_dense && g_strides.dense();
  }
  std::uint64_t bytes_per_step() const;

  /// Takes the gradient, oracle and taps of a step. Throws if one of them is misaligned, or lies on
  /// memory that steps write.
  void bind(const Gradient& given, const Extents& written);
  /// Adds what a step writes. On Error nothing was added.
  void register_in(Extents& written) const;

 private:
  void bind_place(const Gradient& given, const Extents& written);
  void check_watchers(const Gradient& given, const Extents& written) const;
  void check_oracle(const Gradient& given) const;
  void find_nest(const Gradient& given);
  [[noreturn]] void throw_written(std::string_view what, std::string_view owner) const;

  /// Of x, m, v and u, as they were given.
  std::array<Nest::Layout, kStreams> layouts_;
};

/// The memory of a slot from its first element on.
template <class T>
kernels::Tile<T> tile_of(const Slot<T>& slot) {
  kernels::Tile<T> tile;
  tile.x = slot.x;
  tile.g = slot.g;
  tile.m = slot.m;
  tile.v = slot.v;
  tile.u = slot.u;
  if (!slot.watched) return tile;
  const Tap& tap = slot.gradient->tap;
  tile.oracle = static_cast<const T*>(slot.gradient->oracle);
  tile.tap_g = static_cast<T*>(tap.g);
  tile.tap_d = static_cast<T*>(tap.d);
  tile.tap_v = static_cast<T*>(tap.v);
  tile.tap_update = static_cast<T*>(tap.update);
  tile.tapped = tap.g != nullptr || tap.d != nullptr || tap.v != nullptr || tap.update != nullptr;
  return tile;
}

}  // namespace bcos
