#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/update/slot.hpp"

namespace bcos {

/// A part of a slot whose elements do not all lie in one dense order, as kernels want it: columns
/// [at, at + n) of some neighbouring rows. Streams whose rows are dense are worked on in place; of
/// the others the patch is a copy. Rows are taken several at a time because they may be what lies
/// side by side in memory, as in a matrix whose gradient is transposed, or in blocks of columns.
template <class T>
class Patch {
 public:
  /// At most so many rows: a cache line, if they lie side by side.
  static constexpr std::uint64_t kRows = 64 / sizeof(T);

  explicit Patch(const Slot<T>& slot) : slot_(slot), all_(slot.elements()) {
    std::uint64_t copied = 0;
    for (int s = 0; s < kernels::kStreams; ++s) {
      if (all_.data[s] == nullptr) continue;
      copied_[s] = slot.blocks.kind() == BlockShape::Kind::lists ||
                   !slot.strides[s].has_dense_rows(slot.row);
      copied += copied_[s] ? 1 : 0;
      whole_rows_are_a_run_ &= copied_[s] || slot.strides[s].dense();
    }
    if (copied > 0) room_ = kPool / copied;
    T* free = pool_;
    for (int s = 0; s < kernels::kStreams; ++s) {
      copy_[s] = free;
      if (copied_[s]) free += room_;
    }
  }

  /// How many columns of so many rows fit. A multiple of 16, as sums in several calls want it, and
  /// an odd one: rows of a copy begin in different sets of the cache.
  std::uint64_t most_columns(std::uint64_t rows) const {
    if (room_ == 0) return slot_.row;
    return std::min(kMostColumns, (room_ / rows - kLanes) / (2 * kLanes) * (2 * kLanes) + kLanes);
  }

  /// Copies in what lies apart.
  void open(std::uint64_t row, std::uint64_t rows, std::uint64_t at, std::uint64_t n) {
    row_ = row;
    rows_ = rows;
    at_ = at;
    n_ = n;
    for (int s = 0; s < kernels::kTapG; ++s) {
      if (copied_[s]) copy(s, [](T& there, T& here) { here = there; });
    }
  }
  /// Copies back what was written.
  void close() {
    for (int s = kernels::kX; s < kernels::kStreams; ++s) {
      if (copied_[s]) copy(s, [](T& there, T& here) { there = here; });
    }
  }

  /// Opens and closes elements [begin, end), patch by patch, and calls visit(tile, n) for runs of
  /// n.
  template <class Visit>
  void for_each(std::uint64_t begin, std::uint64_t end, const Visit& visit) {
    const std::uint64_t length = slot_.row;
    while (begin < end) {
      const std::uint64_t at = begin % length;
      const bool whole = at == 0 && end - begin >= length;
      const std::uint64_t rows = whole ? std::min(kRows, (end - begin) / length) : 1;
      const std::uint64_t n = std::min(length - at, end - begin);
      const std::uint64_t most = most_columns(rows);
      for (std::uint64_t i = 0; i < n; i += most) {
        open(begin / length, rows, at + i, std::min(most, n - i));
        if (whole_rows_are_a_run_ && n_ == length) {
          visit(tile(0), rows * n);
        } else {
          for (std::uint64_t r = 0; r < rows; ++r) visit(tile(r), n_);
        }
        close();
      }
      begin += rows * n;
    }
  }

  /// What is open of a row.
  kernels::Tile<T> tile(std::uint64_t row) const {
    kernels::Tile<T> tile = all_;
    for (int s = 0; s < kernels::kStreams; ++s) {
      if (copied_[s]) {
        tile.data[s] = copy_[s] + row * n_;
      } else if (tile.data[s] != nullptr) {
        tile.data[s] += slot_.strides[s].offset((row_ + row) * slot_.row + at_);
      }
    }
    return tile;
  }

 private:
  static constexpr std::uint64_t kPool = 32 * 1024 / sizeof(T);
  static constexpr std::uint64_t kMostColumns = 496;
  static constexpr std::uint64_t kLanes = kernels::kLanes;

  template <class Assign>
  void copy(int s, const Assign& assign) {
    find_places(slot_.strides[s]);
    std::uint64_t i = 0;
    for (; i + 4 <= n_; i += 4) copy_columns<4>(s, i, assign);
    for (; i < n_; ++i) copy_columns<1>(s, i, assign);
  }
  /// Columns may be far from each other: memory is asked for those that come soon, for the lines of
  /// their first and last row.
  template <int kCount, class Assign>
  void copy_columns(int s, std::uint64_t i, const Assign& assign) {
    constexpr std::uint64_t kSoon = 16;
    T* there[kCount];
    for (int k = 0; k < kCount; ++k) {
      there[k] = all_.data[s] + columns_[i + k];
      const T* const soon = all_.data[s] + columns_[std::min(i + k + kSoon, n_ - 1)];
      __builtin_prefetch(soon + rows_at_[0], 1);
      __builtin_prefetch(soon + rows_at_[rows_ - 1], 1);
    }
    T* here = copy_[s] + i;
    for (std::uint64_t r = 0; r < rows_; ++r, here += n_) {
      for (int k = 0; k < kCount; ++k) assign(there[k][rows_at_[r]], here[k]);
    }
  }
  /// The element in row r and column i lies at rows_at_[r] + columns_[i].
  void find_places(const Strides& strides) {
    if (slot_.blocks.kind() == BlockShape::Kind::lists) {
      for (std::uint64_t i = 0; i < n_; ++i) {
        columns_[i] = strides.offset(slot_.blocks.index(row_, at_ + i));
      }
      rows_at_[0] = 0;
      return;
    }
    strides.for_each(at_, n_, 1, [&](std::uint64_t i, std::int64_t place) { columns_[i] = place; });
    strides.for_each(row_ * slot_.row, rows_, slot_.row,
                     [&](std::uint64_t r, std::int64_t place) { rows_at_[r] = place; });
  }

  const Slot<T>& slot_;
  kernels::Tile<T> all_;
  bool copied_[kernels::kStreams] = {};
  bool whole_rows_are_a_run_ = true;
  std::uint64_t row_ = 0, rows_ = 0, at_ = 0, n_ = 0;
  std::uint64_t room_ = 0;  ///< for the copy of one stream; 0: nothing is copied
  T* copy_[kernels::kStreams];
  std::int64_t columns_[kMostColumns];
  std::int64_t rows_at_[kRows];
  alignas(64) T pool_[kPool];
};

}  // namespace bcos
