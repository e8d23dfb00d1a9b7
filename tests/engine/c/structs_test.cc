#include "engine/c/structs.hpp"

#include <gtest/gtest.h>

#include "tests/engine/expect_error.hpp"

namespace bcos::c {

/// A struct of the interface after a field was added.
struct Grown {
  std::uint32_t struct_size;
  std::int32_t known;
  double added;
};
template <>
inline constexpr std::size_t kFirstSize<Grown> = 8;

namespace {

constexpr Grown kDefaults{sizeof(Grown), 0, 0.5};

/// As a program has it that was built with the header before.
struct Old {
  std::uint32_t struct_size = sizeof(Old);
  std::int32_t known = 0;
};

TEST(AGrownStruct, OfAnOldProgramHasDefaultsInWhatIsNew) {
  const Old old{.known = 3};
  const Grown taken_over = taken(&old, kDefaults, "f", "a struct");
  EXPECT_EQ(taken_over.known, 3);
  EXPECT_EQ(taken_over.added, 0.5);
}

TEST(AGrownStruct, OfANewProgramIsTakenWhole) {
  const Grown now{sizeof(Grown), 3, 7};
  EXPECT_EQ(taken(&now, kDefaults, "f", "a struct").added, 7);
}

TEST(AGrownStruct, LiesInArraysAsFarApartAsItsProgramHasIt) {
  const Old old[3] = {{.known = 1}, {.known = 2}, {.known = 3}};
  const auto* first = reinterpret_cast<const Grown*>(old);
  EXPECT_EQ(element(first, 2, kDefaults, "f", "a struct").known, 3);
}

TEST(AGrownStruct, IsGivenAsFarAsAnOldProgramHasRoom) {
  struct {
    Old report;
    std::uint64_t behind = 99;
  } memory;
  give(Grown{sizeof(Grown), 4, 1}, reinterpret_cast<Grown*>(&memory.report), "f", "a struct");
  EXPECT_EQ(memory.report.known, 4);
  EXPECT_EQ(memory.report.struct_size, sizeof(Old));
  EXPECT_EQ(memory.behind, 99U);
}

TEST(AGrownStruct, SmallerThanItHasEverBeenIsRefused) {
  const Old old{.struct_size = 4};
  EXPECT_EQ(testing::error_of([&] { taken(&old, kDefaults, "f", "a struct"); }),
            "[f] expected struct_size >= 8 in a struct but received 4: use its _INIT macro");
}

}  // namespace
}  // namespace bcos::c
