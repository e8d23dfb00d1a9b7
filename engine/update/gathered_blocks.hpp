#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/update/host_blocks.hpp"

namespace bcos {

/// Neighbouring blocks of one length whose elements lie apart: 64 elements of each at a time are
/// copied to dense memory, and from there summed and moved.
template <class T>
class GatheredBlocks {
 public:
  GatheredBlocks(const kernels::Kernels<T>& kernels, const Slot<T>& slot, std::uint64_t first,
                 std::uint64_t count)
      : kernels_(kernels),
        slot_(slot),
        step_(*slot.step),
        all_(tile_of(slot)),
        first_(first),
        count_(count),
        n_(slot.blocks.length(first)) {}

  void step() {
    Move<T> moves[kMost];
    find_moves(moves);
    const auto apply = kernels_.apply[step_.recipe.index()];
    for (std::uint64_t i = 0; i < n_; i += kPart) {
      const std::uint64_t part = std::min(kPart, n_ - i);
      copy_in(i, part);
      for (std::uint64_t b = 0; b < count_; ++b) {
        const auto& c = moves[b].starts ? step_.c : step_.started;
        apply(c, dense(b), part, moves[b].gamma, moves[b].scale);
      }
      copy_out(i, part);
    }
  }

 private:
  static constexpr std::uint64_t kMost = HostBlocks<T>::kTogether;
  static constexpr std::uint64_t kPart = 64;
  enum Stream { kX, kG, kM, kU, kTapG, kTapD, kTapUpdate, kStreams };

  void find_moves(Move<T>* moves) {
    kernels::Sums first[kMost];
    if (step_.recipe.sums()) sum(step_.recipe, step_.started, 1, 0, count_, first);
    for (std::uint64_t b = 0; b < count_; ++b) {
      const auto sum_again = [&](kernels::Recipe recipe, const kernels::Coefficients<T>& c,
                                 double scale) {
        kernels::Sums alone[kMost];
        sum(recipe, c, scale, b, b + 1, alone);
        return alone[b];
      };
      moves[b] = find_move(slot_, first_ + b, n_, sum_again, &first[b]);
    }
  }

  /// The sums of blocks [from, to) of these.
  void sum(kernels::Recipe recipe, const kernels::Coefficients<T>& c, double scale,
           std::uint64_t from, std::uint64_t to, kernels::Sums* sums) {
    PairwiseSums totals[kMost];
    for (std::uint64_t chunk = 0; chunk < n_; chunk += kSumChunk) {
      kernels::Lanes lanes[kMost];
      const std::uint64_t end = std::min(n_, chunk + kSumChunk);
      for (std::uint64_t i = chunk; i < end; i += kPart) {
        const std::uint64_t part = std::min(kPart, end - i);
        copy_in(i, part);
        for (std::uint64_t b = from; b < to; ++b) {
          sums[b] = kernels_.sum[recipe.index()](c, dense(b), part, scale, &lanes[b]);
        }
      }
      for (std::uint64_t b = from; b < to; ++b) totals[b].add(sums[b]);
    }
    for (std::uint64_t b = from; b < to; ++b) sums[b] = totals[b].total();
  }

  kernels::Tile<T> dense(std::uint64_t b) {
    kernels::Tile<T> tile;
    tile.x = copy_[kX][b];
    tile.g = copy_[kG][b];
    if (all_.m != nullptr) tile.m = copy_[kM][b];
    if (all_.u != nullptr) tile.u = copy_[kU][b];
    if (all_.tap_g != nullptr) tile.tap_g = copy_[kTapG][b];
    if (all_.tap_d != nullptr) tile.tap_d = copy_[kTapD][b];
    if (all_.tap_update != nullptr) tile.tap_update = copy_[kTapUpdate][b];
    tile.tapped = all_.tapped;
    return tile;
  }

  /// Calls visit(index, count, place, apart) for elements that follow each other in logical order:
  /// the k-th of them belongs at place[k * apart] of a stream's copy.
  template <class Visit>
  void for_each_run(std::uint64_t first, std::uint64_t part, const Visit& visit) const {
    const BlockShape& blocks = slot_.blocks;
    switch (blocks.kind()) {
      case BlockShape::Kind::columns:  // neighbouring columns are neighbours in memory
        for (std::uint64_t i = 0; i < part; ++i) {
          visit(blocks.index(first_, first + i), count_, i, kPart);
        }
        return;
      case BlockShape::Kind::lists:
        for (std::uint64_t i = 0; i < part; ++i) visit(blocks.index(first_, first + i), 1, i, 1);
        return;
      default:
        for (std::uint64_t b = 0; b < count_; ++b) {
          visit(blocks.index(first_ + b, first), part, b * kPart, 1);
        }
    }
  }
  void copy_in(const T* from, const Strides& strides, Stream stream, std::uint64_t first,
               std::uint64_t part) {
    if (from == nullptr) return;
    T* const to = copy_[stream][0];
    for_each_run(
        first, part,
        [&](std::uint64_t index, std::uint64_t count, std::uint64_t place, std::uint64_t apart) {
          T run[kPart];
          gather(from, strides, index, count, run);
          for (std::uint64_t k = 0; k < count; ++k) to[place + k * apart] = run[k];
        });
  }
  void copy_out(T* to, const Strides& strides, Stream stream, std::uint64_t first,
                std::uint64_t part) const {
    if (to == nullptr) return;
    const T* const from = copy_[stream][0];
    for_each_run(
        first, part,
        [&](std::uint64_t index, std::uint64_t count, std::uint64_t place, std::uint64_t apart) {
          T run[kPart];
          for (std::uint64_t k = 0; k < count; ++k) run[k] = from[place + k * apart];
          scatter(run, strides, index, count, to);
        });
  }

  void copy_in(std::uint64_t first, std::uint64_t part) {
    copy_in(all_.x, slot_.x_strides, kX, first, part);
    copy_in(all_.g, slot_.g_strides, kG, first, part);
    copy_in(all_.m, slot_.m_strides, kM, first, part);
    copy_in(all_.u, slot_.u_strides, kU, first, part);
  }
  void copy_out(std::uint64_t first, std::uint64_t part) {
    copy_out(all_.x, slot_.x_strides, kX, first, part);
    copy_out(all_.m, slot_.m_strides, kM, first, part);
    copy_out(all_.u, slot_.u_strides, kU, first, part);
    copy_out(all_.tap_g, {}, kTapG, first, part);
    copy_out(all_.tap_d, {}, kTapD, first, part);
    copy_out(all_.tap_update, {}, kTapUpdate, first, part);
  }

  const kernels::Kernels<T>& kernels_;
  const Slot<T>& slot_;
  const Rounded<T>& step_;
  kernels::Tile<T> all_;
  std::uint64_t first_;
  std::uint64_t count_;
  std::uint64_t n_;
  T copy_[kStreams][kMost][kPart];
};

}  // namespace bcos
