#include "engine/update/work.hpp"

#include <gtest/gtest.h>

namespace bcos::testing {
namespace {

TEST(Work, IsVisitedOnceHoweverItIsCut) {
  struct Given {
    std::uint64_t n;
    Grid grid;
  };
  const Given slots[] = {
      {300'001, {300'001, 512}}, {7, {7, 4096}},  {0, {1, 1}},           {0, {1, 1}},
      {65'536, {4096, 512}},     {999, {37, 37}}, {10'000, {5000, 4096}}};
  Work work;
  for (const Given& slot : slots) {
    work.make_room();
    work.add(slot.n, slot.grid);
  }
  for (const std::uint64_t range : {1U, 3U, 1000U, 65'536U, 1'000'000U}) {
    std::uint64_t seen[std::size(slots)] = {};
    for (std::uint64_t from = 0; from < work.positions(); from += range) {
      const std::uint64_t to = std::min(from + range, work.positions());
      work.visit(from, to, [&](std::size_t slot, std::uint64_t begin, std::uint64_t end) {
        EXPECT_EQ(begin, seen[slot]);
        EXPECT_LT(begin, end);
        const Grid grid = slots[slot].grid;
        EXPECT_TRUE(end == slots[slot].n || end % grid.row % grid.step == 0) << end;
        seen[slot] = end;
      });
    }
    for (std::size_t slot = 0; slot < std::size(slots); ++slot) {
      EXPECT_EQ(seen[slot], slots[slot].n) << "slot " << slot << ", ranges of " << range;
    }
  }
}

TEST(Work, IsCutIntoLongRangesOnlyIfThereAreManyForEveryThread) {
  constexpr std::uint64_t kRange = 64 * 1024;
  EXPECT_EQ(ranges_of(3 * kRange, 2), 1U);
  EXPECT_EQ(ranges_of(1000 * kRange, 1), 1U);
  EXPECT_EQ(ranges_of(255 * kRange, 2), 255U);
  EXPECT_EQ(ranges_of(256 * kRange, 2), 128U);
  EXPECT_EQ(ranges_of(100'000 * kRange, 2), 25'000U);
  EXPECT_EQ(ranges_of(256 * kRange, 64), 256U);
}

}  // namespace
}  // namespace bcos::testing
