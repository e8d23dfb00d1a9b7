#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/update/copy_matrix.hpp"
#include "engine/update/slot.hpp"

namespace bcos {

/// Steps a slot whose streams do not all lie in one dense order, a patch at a time. A patch is some
/// neighbouring rows of the nest, and of each row some neighbouring elements. Streams whose rows
/// are dense are worked on in place; of the others the patch is gathered before the kernel runs and
/// scattered behind it. Rows are taken several at a time because they may be what lies side by side
/// in memory, as in a matrix whose gradient is transposed.
template <class T>
class Window {
 public:
  /// Rows that are taken together: a cache line, if they lie side by side.
  static constexpr std::size_t kRows = 64 / sizeof(T);

  Window(const Slot<T>& slot, std::size_t ahead) : dims_(slot.nest.dims()) {
    const kernels::Tile<T> all = tile_of(slot);
    tile_.tapped = all.tapped;
    tile_.ahead = ahead;
    T* const written[] = {all.x,     all.m,     all.v,     all.u,
                          all.tap_g, all.tap_d, all.tap_v, all.tap_update};
    std::copy(written, written + kWrittenStreams, data_);
    // Those are read only: a patch of them is not scattered.
    data_[kG] = const_cast<T*>(all.g);
    data_[kOracle] = const_cast<T*>(all.oracle);
    if (!dims_.empty()) inner_ = dims_.back();
    if (dims_.size() > 1) rows_together_ = std::min<std::uint64_t>(kRows, next_inner().size);
    std::size_t gathered = 0;
    for (int s = 0; s < kStreams; ++s) gathered += is_gathered(s) ? 1 : 0;
    if (gathered > 0) room_ = kPool / gathered;
    for (int s = 0, k = 0; s < kStreams; ++s) {
      if (is_gathered(s)) copies_[s] = pool_ + room_ * static_cast<std::size_t>(k++);
    }
  }

  /// Calls kernel(tile, n) for all elements [begin, end), counted in the order of the nest.
  template <class Kernel>
  void run(std::uint64_t begin, std::uint64_t end, const Kernel& kernel) {
    const std::uint64_t length = inner_.size;
    while (begin < end) {
      const std::uint64_t row = begin / length;
      const std::uint64_t at = begin % length;
      std::uint64_t rows = 1;
      std::uint64_t n = std::min(length - at, end - begin);
      if (at == 0 && end - begin >= length && dims_.size() > 1) {
        const std::uint64_t left = next_inner().size - row % next_inner().size;
        rows = std::min({rows_together_, (end - begin) / length, left});
      }
      find_row(row);
      const std::uint64_t most = std::max<std::uint64_t>(room_ / rows, 1);
      for (std::uint64_t i = 0; i < n; i += most) {
        run_patch(at + i, std::min(most, n - i), rows, kernel);
      }
      begin += rows * n;
    }
  }

 private:
  static constexpr std::size_t kPool = 32 * 1024 / sizeof(T);

  const Nest::Dim& next_inner() const { return dims_[dims_.size() - 2]; }
  bool is_gathered(int s) const { return data_[s] != nullptr && inner_.strides[s] != 1; }

  /// Where the row begins in every stream.
  void find_row(std::uint64_t row) {
    std::fill(offset_, offset_ + kStreams, std::int64_t{0});
    for (std::size_t k = dims_.size(); k-- > 1;) {
      const Nest::Dim& dim = dims_[k - 1];
      const auto index = static_cast<std::int64_t>(row % dim.size);
      row /= dim.size;
      for (int s = 0; s < kStreams; ++s) offset_[s] += index * dim.strides[s];
    }
  }

  template <class Kernel>
  void run_patch(std::uint64_t at, std::uint64_t n, std::uint64_t rows, const Kernel& kernel) {
    for (int s = 0; s < kStreams; ++s) {
      if (is_gathered(s)) {
        copy_matrix<T>({element(s, at), row_stride(s), along(s)}, {copies_[s], as_stride(n), 1},
                       rows, n);
      }
    }
    for (std::uint64_t row = 0; row < rows; ++row) kernel(tile(at, n, row), n);
    for (int s = 0; s < kWrittenStreams; ++s) {
      if (is_gathered(s)) {
        copy_matrix<T>({copies_[s], as_stride(n), 1}, {element(s, at), row_stride(s), along(s)},
                       rows, n);
      }
    }
  }

  T* element(int s, std::uint64_t at) const {
    return data_[s] + offset_[s] + static_cast<std::int64_t>(at) * inner_.strides[s];
  }
  static std::int64_t as_stride(std::uint64_t n) { return static_cast<std::int64_t>(n); }
  std::int64_t along(int s) const { return inner_.strides[s]; }
  std::int64_t row_stride(int s) const { return dims_.size() > 1 ? next_inner().strides[s] : 0; }

  const kernels::Tile<T>& tile(std::uint64_t at, std::uint64_t n, std::uint64_t row) {
    const auto place = [&](int s) -> T* {
      if (data_[s] == nullptr) return nullptr;
      if (is_gathered(s)) return copies_[s] + row * n;
      return element(s, at) + static_cast<std::int64_t>(row) * row_stride(s);
    };
    tile_.x = place(kX);
    tile_.m = place(kM);
    tile_.v = place(kV);
    tile_.u = place(kU);
    tile_.g = place(kG);
    tile_.oracle = place(kOracle);
    if (tile_.tapped) {
      tile_.tap_g = place(kTapG);
      tile_.tap_d = place(kTapD);
      tile_.tap_v = place(kTapV);
      tile_.tap_update = place(kTapUpdate);
    }
    return tile_;
  }

  std::span<const Nest::Dim> dims_;
  Nest::Dim inner_{1, {}};
  std::uint64_t rows_together_ = 1;
  std::size_t room_ = kPool;
  T* data_[kStreams];
  T* copies_[kStreams] = {};
  std::int64_t offset_[kStreams] = {};
  kernels::Tile<T> tile_;
  alignas(64) T pool_[kPool];
};

}  // namespace bcos
