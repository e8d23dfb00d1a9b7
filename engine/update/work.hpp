#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/make_room.hpp"

namespace bcos {

/// Where the positions of a slot may be cut: at r row + k step, for whole numbers r and k.
struct Grid {
  std::uint64_t row = ~std::uint64_t{0};  ///< there is but one
  std::uint64_t step = 1;

  /// The first cut at or behind `at`, of n positions.
  std::uint64_t cut(std::uint64_t at, std::uint64_t n) const {
    const std::uint64_t begin = at / row * row;
    const std::uint64_t steps = (at - begin + step - 1) / step;
    return std::min({begin + steps * step, begin + row, n});
  }
};

/// The positions of all slots, one slot behind the other, so that any range of them is a share of
/// the work.
class Work {
 public:
  /// The add() that follows cannot fail.
  void make_room() { bcos::make_room(slots_); }
  void add(std::uint64_t positions, Grid grid) {
    slots_.push_back({positions_, positions, grid});
    positions_ += positions;
  }

  std::uint64_t positions() const { return positions_; }

  /// Calls visit(slot, begin, end) for what lies in [from, to). Each end is moved up to the next
  /// cut of its slot: ranges that follow each other visit everything once.
  template <class Visit>
  void visit(std::uint64_t from, std::uint64_t to, const Visit& visit) const {
    auto slot = std::ranges::upper_bound(slots_, from, {}, &Entry::begin);
    if (slot != slots_.begin()) --slot;
    for (; slot != slots_.end() && slot->begin < to; ++slot) {
      const auto local = [&](std::uint64_t position) {
        return position <= slot->begin ? 0 : std::min(position - slot->begin, slot->n);
      };
      const std::uint64_t begin = slot->grid.cut(local(from), slot->n);
      const std::uint64_t end = slot->grid.cut(local(to), slot->n);
      if (begin < end) visit(static_cast<std::size_t>(slot - slots_.begin()), begin, end);
    }
  }

 private:
  struct Entry {
    std::uint64_t begin;
    std::uint64_t n;
    Grid grid;
  };
  std::vector<Entry> slots_;
  std::uint64_t positions_ = 0;
};

/// How many ranges of equal size work is cut into: of 64 Ki positions, or of a few times that as
/// long as every thread has many ranges to take. 1: threads would not pay.
inline std::uint64_t ranges_of(std::uint64_t positions, std::size_t threads) {
  constexpr std::uint64_t kRange = 64 * 1024;
  constexpr std::uint64_t kFew = 4;
  constexpr std::uint64_t kMany = 64;
  if (threads == 1 || positions < 4 * kRange) return 1;
  const std::uint64_t ranges = (positions + kRange - 1) / kRange;
  const std::uint64_t at_once = std::clamp<std::uint64_t>(ranges / (kMany * threads), 1, kFew);
  return (ranges + at_once - 1) / at_once;
}

}  // namespace bcos
