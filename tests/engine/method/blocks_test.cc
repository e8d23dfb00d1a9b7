#include "bcos/blocks.hpp"

#include <gtest/gtest.h>

#include "bcos/tensor.hpp"
#include "tests/engine/expect_error.hpp"

namespace bcos {
namespace {

using testing::error_of;
using Shape = std::vector<std::int64_t>;

std::uint64_t count(const Blocks& blocks, const Shape& shape) { return block_count(blocks, shape); }

std::string refusal(const Blocks& blocks, const Shape& shape) {
  return error_of([&] { count(blocks, shape); });
}

TEST(BlockCount, FollowsTheLayout) {
  const Shape shape = {6, 5, 4};
  EXPECT_EQ(count(Blocks::of(Layout::coordinate), shape), 120u);
  EXPECT_EQ(count(Blocks::of(Layout::tensor), shape), 1u);
  EXPECT_EQ(count(Blocks::of(Layout::row), shape), 6u);
  EXPECT_EQ(count(Blocks::of(Layout::column), shape), 4u);
  EXPECT_EQ(count(Blocks::of_heads(3), shape), 3u);
}

TEST(BlockCount, OfAVectorIsOneElementARowAndAColumn) {
  EXPECT_EQ(count(Blocks::of(Layout::row), {7}), 7u);
  EXPECT_EQ(count(Blocks::of(Layout::column), {7}), 7u);
}

TEST(BlockCount, OfRankZeroIsOne) {
  for (const Layout layout : {Layout::coordinate, Layout::tensor, Layout::row, Layout::column}) {
    EXPECT_EQ(count(Blocks::of(layout), {}), 1u);
  }
  EXPECT_EQ(count(Blocks::of_heads(1), {}), 1u);
  EXPECT_EQ(count(Blocks::of_lists({{0}}), {}), 1u);
}

TEST(BlockCount, OfNothingIsZero) {
  for (const Shape& shape : {Shape{0}, Shape{3, 0}, Shape{0, 3}}) {
    for (const Layout layout : {Layout::coordinate, Layout::tensor, Layout::row, Layout::column}) {
      EXPECT_EQ(count(Blocks::of(layout), shape), 0u);
    }
    EXPECT_EQ(count(Blocks::of_heads(2), shape), 0u);
    EXPECT_EQ(count(Blocks::of_lists({}), shape), 0u);
  }
}

TEST(Heads, MustDivideTheFirstDimension) {
  EXPECT_EQ(refusal(Blocks::of_heads(4), {6, 5}),
            "[block_count] expected heads that divide the first dimension, 6, but received 4");
  EXPECT_EQ(refusal(Blocks::of_heads(2), {}),
            "[block_count] expected heads that divide the first dimension, 1, but received 2");
  EXPECT_EQ(refusal(Blocks::of_heads(0), {6}), "[block_count] expected heads >= 1 but received 0");
}

TEST(Lists, AreCountedIfTheyAreAPartition) {
  EXPECT_EQ(count(Blocks::of_lists({{0, 2}, {1}}), {3}), 2u);
  EXPECT_EQ(count(Blocks::of_lists({{5, 4, 3}, {0}, {1, 2}}), {2, 3}), 3u);
}

TEST(Lists, NameTheIndexAtFault) {
  EXPECT_EQ(refusal(Blocks::of_lists({{0, 1}, {3}}), {3}),
            "[block_count] expected indices in [0, 3) but received 3 in list 1");
  EXPECT_EQ(refusal(Blocks::of_lists({{0, 1}, {1, 2}}), {3}),
            "[block_count] expected every index in one list but received 1 twice");
  EXPECT_EQ(refusal(Blocks::of_lists({{0}, {2}}), {3}),
            "[block_count] expected every index of [0, 3) in a list but 1 is missing");
  EXPECT_EQ(refusal(Blocks::of_lists({{0, 1, 2}, {}}), {3}),
            "[block_count] expected non-empty index lists but received an empty one at 1");
  EXPECT_EQ(refusal(Blocks::of_lists({{0}}), {0}),
            "[block_count] expected indices in [0, 0) but received 0 in list 0");
}

TEST(Lists, CostNoMemoryForTheElementsTheyDoNotName) {
  EXPECT_EQ(refusal(Blocks::of_lists({{0}}), {std::int64_t{1} << 62}),
            "[block_count] expected every index of [0, 4611686018427387904) in a list but 1 is "
            "missing");
}

TEST(BlocksName, ReadsBackAsTheSameBlocks) {
  for (const char* name : {"coordinate", "tensor", "row", "column", "heads:12", "heads:1"}) {
    EXPECT_EQ(blocks_name(blocks_from_name(name)), name);
  }
  EXPECT_EQ(blocks_from_name("heads:4294967295"), Blocks::of_heads(4294967295u));
  EXPECT_EQ(error_of([] { blocks_name(Blocks::of_lists({{0}})); }),
            "[blocks_name] expected a layout with a name but received index lists");
}

TEST(BlocksFromName, RefusesOtherNames) {
  EXPECT_EQ(error_of([] { blocks_from_name("rows"); }),
            "[blocks_from_name] expected coordinate, tensor, row, column, heads:N but received "
            "'rows'; did you mean 'row'?");
  for (const char* name : {"heads:", "heads:0", "heads:-1", "heads:1.5", "heads: 2", "heads:+2",
                           "heads:4294967296", "heads:2x"}) {
    EXPECT_EQ(error_of([&] { blocks_from_name(name); }),
              "[blocks_from_name] expected heads:N with N in [1, 2^32) but received '" +
                  std::string(name) + "'");
  }
}

TEST(ElementCount, IsTheProductOfTheSizes) {
  EXPECT_EQ(element_count(Shape{}), 1u);
  EXPECT_EQ(element_count(Shape{3, 4, 5}), 60u);
  EXPECT_EQ(element_count(Shape{std::int64_t{1} << 31, std::int64_t{1} << 31}),
            std::uint64_t{1} << 62);
  EXPECT_EQ(element_count(Shape{std::int64_t{1} << 40, std::int64_t{1} << 40, 0}), 0u);
}

TEST(ElementCount, RefusesNegativeSizesAndOverflow) {
  EXPECT_EQ(error_of([] { element_count(Shape{0, -1}); }),
            "[element_count] expected sizes >= 0 but received -1");
  EXPECT_EQ(error_of([] { element_count(Shape{4294967296, 4294967296}); }),
            "[element_count] expected at most 2^62 elements but received the shape (4294967296, "
            "4294967296)");
  EXPECT_NE(error_of([] { element_count(Shape{std::int64_t{1} << 62, 2}); }), "");
}

TEST(DTypes, HaveNamesAndSizes) {
  EXPECT_EQ(name(DType::f32), "float32");
  EXPECT_EQ(name(DType::f64), "float64");
  EXPECT_EQ(bytes_of(DType::f64), 8u);
  EXPECT_EQ(error_of([] { (void)name(static_cast<DType>(7)); }),
            "[name] expected a DType but received the number 7");
}

}  // namespace
}  // namespace bcos
