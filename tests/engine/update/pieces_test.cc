#include "engine/update/pieces.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace bcos::testing {
namespace {

TEST(Tasks, HoldEveryElementOnceHoweverManyAreTakenAtOnce) {
  TaskList list;
  const std::uint64_t sizes[] = {300'001, 7, 0, 65'536, 1'000'003};
  for (std::uint32_t tensor = 0; tensor < 5; ++tensor) list.append(tensor, 0, sizes[tensor], 1, 1);
  list.finish();
  for (std::size_t at_once = 1; at_once <= list.tasks() + 1; ++at_once) {
    std::uint64_t seen[5] = {};
    for (std::size_t first = 0; first < list.tasks(); first += at_once) {
      const std::size_t last = std::min(first + at_once, list.tasks());
      for_each_joined(list.pieces_of(first, last), [&](const Piece& piece) {
        EXPECT_EQ(piece.begin, seen[piece.tensor]);
        seen[piece.tensor] = piece.end;
      });
    }
    for (std::size_t tensor = 0; tensor < 5; ++tensor) EXPECT_EQ(seen[tensor], sizes[tensor]);
  }
}

TEST(Tasks, AreTakenSeveralAtOnceOnlyIfThereAreManyForEveryThread) {
  EXPECT_EQ(tasks_at_once(1, 2), 1U);
  EXPECT_EQ(tasks_at_once(255, 2), 1U);
  EXPECT_EQ(tasks_at_once(256, 2), 2U);
  EXPECT_EQ(tasks_at_once(100'000, 2), 4U);
  EXPECT_EQ(tasks_at_once(256, 64), 1U);
}

}  // namespace
}  // namespace bcos::testing
