#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/update/slot.hpp"

namespace bcos {

/// A tile of a slot whose streams do not all lie in one dense order: those that do are worked on in
/// place, the others are gathered before the kernel and scattered behind it.
template <class T>
class Window {
 public:
  static constexpr std::size_t kTile = 512;

  explicit Window(const Slot<T>& slot) : all_(tile_of(slot)) {
    add(all_.x, tile_.x, slot.x_strides);
    add(all_.m, tile_.m, slot.m_strides);
    add(all_.v, tile_.v, slot.v_strides);
    add(all_.u, tile_.u, slot.u_strides);
    add(all_.tap_g, tile_.tap_g, slot.logical);
    add(all_.tap_d, tile_.tap_d, slot.logical);
    add(all_.tap_v, tile_.tap_v, slot.logical);
    add(all_.tap_update, tile_.tap_update, slot.logical);
    g_strides_ = &slot.g_strides;
    oracle_strides_ = &slot.logical;
    tile_.tapped = all_.tapped;
  }

  /// Elements [begin, begin + n), n <= kTile.
  const kernels::Tile<T>& open(std::uint64_t begin, std::size_t n) {
    begin_ = begin;
    n_ = n;
    for (std::size_t k = 0; k < written_; ++k) {
      const Stream& s = streams_[k];
      *s.place = s.strides->dense() ? s.data + begin : buffer_[k];
      if (!s.strides->dense()) gather(s.data, *s.strides, begin, n, buffer_[k]);
    }
    tile_.g = read(all_.g, *g_strides_, buffer_[kMostWritten]);
    if (all_.oracle != nullptr) {
      tile_.oracle = read(all_.oracle, *oracle_strides_, buffer_[kMostWritten + 1]);
    }
    return tile_;
  }

  void close() {
    for (std::size_t k = 0; k < written_; ++k) {
      const Stream& s = streams_[k];
      if (!s.strides->dense()) scatter(buffer_[k], *s.strides, begin_, n_, s.data);
    }
  }

 private:
  static constexpr std::size_t kMostWritten = 8;
  struct Stream {
    T* data;
    T** place;
    const Strides* strides;
  };

  void add(T* data, T*& place, const Strides& strides) {
    if (data != nullptr) streams_[written_++] = {data, &place, &strides};
  }
  const T* read(const T* data, const Strides& strides, T* buffer) {
    if (strides.dense()) return data + begin_;
    gather(data, strides, begin_, n_, buffer);
    return buffer;
  }

  kernels::Tile<T> all_;
  kernels::Tile<T> tile_;
  Stream streams_[kMostWritten];
  std::size_t written_ = 0;
  const Strides* g_strides_;
  const Strides* oracle_strides_;
  std::uint64_t begin_ = 0;
  std::size_t n_ = 0;
  T buffer_[kMostWritten + 2][kTile];
};

}  // namespace bcos
