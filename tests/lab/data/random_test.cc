#include "lab/data/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "bcos/error.hpp"
#include "lab/numbers/philox.hpp"

namespace bcos::lab::data {
namespace {

using Words = std::array<std::uint32_t, 4>;

// From the file kat_vectors of Random123, the authors' own.
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(numbers::philox({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(numbers::philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      numbers::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomNumbers, AreTheWordsOfPhilox) {
  Random random(0, 0);
  EXPECT_EQ(random.next(), 0xe169c58d6627e8d5U);
  EXPECT_EQ(random.next(), 0x9b00dbd8bc57ac4cU);
}

TEST(RandomNumbers, CanBeEnteredAnywhere) {
  Random whole(7, 3);
  for (std::uint64_t counter = 0; counter < 9; ++counter) {
    EXPECT_EQ(Random(7, 3, counter).next(), whole.next()) << counter;
  }
}

TEST(RandomNumbers, DifferBySeedAndStream) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t stream = 0; stream < 10; ++stream) seen.insert(Random(seed, stream).next());
  }
  EXPECT_EQ(seen.size(), 100U);
}

TEST(RandomNumbers, BelowNAreEven) {
  Random random(1, 0);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60000; ++i) ++counts[random.below(6)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
  EXPECT_EQ(random.below(1), 0U);
  EXPECT_THROW(random.below(0), Error);
}

TEST(RandomNumbers, BelowThreeQuartersOfAllHaveNoBias) {
  // By remainder alone the lowest third would come up twice as often.
  const std::uint64_t n = std::uint64_t{3} << 62;
  Random random(2, 0);
  int low = 0;
  for (int i = 0; i < 9000; ++i) low += random.below(n) < n / 3 ? 1 : 0;
  EXPECT_NEAR(low, 3000, 300);
}

TEST(RandomNumbers, UniformAreInTheUnitInterval) {
  Random random(3, 0);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    const double x = random.uniform();
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

TEST(AStream, IsAnotherForEveryUseStepAndPart) {
  std::set<std::uint64_t> seen;
  for (const Draw draw : {Draw::token_rows, Draw::augmentation, Draw::epoch_order, Draw::mixing}) {
    for (std::uint64_t step : {0, 1, 2, 1000}) {
      for (std::uint64_t part : {0, 1, 65535}) seen.insert(stream_of(draw, step, part));
    }
  }
  EXPECT_EQ(seen.size(), 48U);
  EXPECT_THROW(stream_of(Draw::token_rows, std::uint64_t{1} << 44), Error);
  EXPECT_THROW(stream_of(Draw::token_rows, 0, 65536), Error);
}

TEST(APermutation, TakesEveryPlaceOnce) {
  for (std::uint64_t n = 1; n < 300; ++n) {
    std::vector<bool> seen(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t to = permuted(i, n, 1234 + n);
      ASSERT_LT(to, n);
      ASSERT_FALSE(seen[to]) << "n = " << n;
      seen[to] = true;
    }
  }
}

TEST(APermutation, SendsAPlaceEverywhere) {
  std::array<int, 10> counts{};
  for (std::uint64_t key = 0; key < 20000; ++key) ++counts[permuted(3, 10, key)];
  for (const int count : counts) EXPECT_NEAR(count, 2000, 250);
}

TEST(APermutation, OfTheLargestSizeStaysInside) {
  const std::uint64_t n = std::uint64_t{1} << 62;
  EXPECT_LT(permuted(n - 1, n, 5), n);
  EXPECT_THROW(permuted(0, n + 1, 5), Error);
  EXPECT_THROW(permuted(4, 4, 5), Error);
  EXPECT_THROW(permuted(0, 0, 5), Error);
}

}  // namespace
}  // namespace bcos::lab::data
