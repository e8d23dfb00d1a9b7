#include "lab/data/batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "bcos/error.hpp"

namespace bcos::lab::data {
namespace {

std::unique_ptr<Tokens> counting(std::uint32_t n) {
  std::vector<std::uint32_t> ids(n);
  std::iota(ids.begin(), ids.end(), 0);
  return tokens_in_memory(ids);
}

TEST(TokenRows, HaveTheirTargetsOnePlaceOn) {
  const auto tokens = counting(1000);
  TokenBatch batch;
  TokenBatches(*tokens, 8, 4, 1).fill(0, 0, batch);
  ASSERT_EQ(batch.rows, 4U);
  ASSERT_EQ(batch.inputs.size(), 32U);
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(batch.targets[i], batch.inputs[i] + 1);
    if (i % 8 != 0) {
      EXPECT_EQ(batch.inputs[i], batch.inputs[i - 1] + 1);
    }
  }
}

TEST(TokenRows, AreAFunctionOfSeedStepAndPart) {
  const auto tokens = counting(100000);
  const auto inputs = [&](std::uint64_t seed, std::uint64_t step, std::uint64_t part) {
    TokenBatch batch;
    TokenBatches(*tokens, 4, 8, seed).fill(step, part, batch);
    return batch.inputs;
  };
  const auto first = inputs(1, 10, 0);
  EXPECT_EQ(first, inputs(1, 10, 0));
  EXPECT_NE(first, inputs(2, 10, 0));
  EXPECT_NE(first, inputs(1, 11, 0));
  EXPECT_NE(first, inputs(1, 10, 1));
}

TEST(TokenRows, ReachBothEnds) {
  const auto tokens = counting(6);
  const TokenBatches batches(*tokens, 4, 1, 3);
  std::set<std::int64_t> begins;
  TokenBatch batch;
  for (std::uint64_t step = 0; step < 50; ++step) {
    batches.fill(step, 0, batch);
    begins.insert(batch.inputs[0]);
  }
  EXPECT_EQ(begins, (std::set<std::int64_t>{0, 1}));
}

TEST(TokenRows, NeedMoreTokensThanTheContext) {
  const auto tokens = counting(8);
  EXPECT_NO_THROW(TokenBatches(*tokens, 7, 1, 0));
  EXPECT_THROW(TokenBatches(*tokens, 8, 1, 0), Error);
  EXPECT_THROW(TokenBatches(*tokens, 0, 1, 0), Error);
  EXPECT_THROW(TokenBatches(*tokens, 2, 0, 0), Error);
  EXPECT_THROW(TokenBatches(*tokens, 2, std::uint64_t{1} << 63, 0), Error);
}

TEST(EvaluationRows, AreEvenlySpacedOverAllTokens) {
  const auto tokens = counting(1010);
  const EvalBatches batches(*tokens, 10, 5, 2);
  ASSERT_EQ(batches.size(), 2U);
  TokenBatch batch;
  for (std::uint64_t i = 0; i < 2; ++i) {
    batches.fill(i, batch);
    for (std::uint64_t row = 0; row < 5; ++row) {
      EXPECT_EQ(batch.inputs[row * 10], static_cast<std::int64_t>(100 * (5 * i + row)));
      EXPECT_EQ(batch.targets[row * 10 + 9], batch.inputs[row * 10] + 10);
    }
  }
  EXPECT_THROW(batches.fill(2, batch), Error);
}

TEST(EvaluationRows, AreSpacedAsEvenlyAsWholePlacesAllow) {
  const auto tokens = counting(26);  // 16 places for 10 rows
  const EvalBatches batches(*tokens, 10, 5, 2);
  std::vector<std::int64_t> begins;
  TokenBatch batch;
  for (std::uint64_t i = 0; i < 2; ++i) {
    batches.fill(i, batch);
    for (std::uint64_t row = 0; row < 5; ++row) begins.push_back(batch.inputs[row * 10]);
  }
  EXPECT_EQ(begins, (std::vector<std::int64_t>{0, 1, 3, 4, 6, 8, 9, 11, 12, 14}));
}

TEST(EvaluationRows, OfAllTokensDoNotOverlap) {
  const auto tokens = counting(101);
  const EvalBatches batches(*tokens, 10, 4, 0);
  ASSERT_EQ(batches.size(), 3U);
  std::vector<std::int64_t> targets;
  TokenBatch batch;
  for (std::uint64_t i = 0; i < batches.size(); ++i) {
    batches.fill(i, batch);
    targets.insert(targets.end(), batch.targets.begin(), batch.targets.end());
  }
  EXPECT_EQ(batch.rows, 2U);
  std::vector<std::int64_t> expected(100);
  std::iota(expected.begin(), expected.end(), 1);
  EXPECT_EQ(targets, expected);
}

/// n images of one channel, 2 x 3, whose pixels are 6 i + 0 ... 5.
std::unique_ptr<Images> six_pixels(int n) {
  std::string pixels;
  std::vector<std::uint8_t> labels;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < 6; ++k) pixels.push_back(static_cast<char>(6 * i + k));
    labels.push_back(static_cast<std::uint8_t>(i));
  }
  return images_in_memory({1, 2, 3}, std::vector<std::string>(static_cast<std::size_t>(n), "c"),
                          pixels, labels);
}

constexpr ChannelNumbers kMean = {0, 0, 0};
constexpr ChannelNumbers kStd = {1.0F / 255, 1, 1};  // so that values are the pixels

TEST(ImageRows, TakeEveryImageOnceAnEpoch) {
  const auto images = six_pixels(10);
  const ImageBatches batches(*images, 4, 5, {}, kMean, kStd, 2);
  std::vector<std::int64_t> order;
  ImageBatch batch;
  for (std::uint64_t step = 0; step < 5; ++step) {
    for (std::uint64_t part = 0; part < 2; ++part) {
      batches.fill(step, part, batch);
      order.insert(order.end(), batch.labels.begin(), batch.labels.end());
      for (std::size_t row = 0; row < 4; ++row) {
        EXPECT_NEAR(batch.images[6 * row + 2], static_cast<float>(6 * batch.labels[row] + 2), 1e-3);
      }
    }
  }
  std::set<std::vector<std::int64_t>> epochs;
  for (auto epoch = order.begin(); epoch != order.end(); epoch += 10) {
    EXPECT_EQ(std::set<std::int64_t>(epoch, epoch + 10).size(), 10U);
    epochs.emplace(epoch, epoch + 10);
  }
  EXPECT_GT(epochs.size(), 1U);
  EXPECT_THROW(batches.fill(0, 2, batch), Error);
}

TEST(ImageRows, AreMovedAndFlippedByTheSeedAlone) {
  const auto images = six_pixels(1);
  const ImageBatches batches(*images, 1, 5, {.crop_padding = 1, .flip = true}, kMean, kStd);
  std::set<std::vector<float>> seen;
  ImageBatch batch;
  for (std::uint64_t step = 0; step < 300; ++step) {
    batches.fill(step, 0, batch);
    seen.insert(batch.images);
  }
  // 3 x 3 places, two ways each. One pixel is 0 like the padding, and still they all differ.
  EXPECT_EQ(seen.size(), 18U);
  ImageBatch again;
  batches.fill(299, 0, again);
  EXPECT_EQ(again.images, batch.images);
}

TEST(ImageRows, AreFlippedFromLeftToRight) {
  const auto images = six_pixels(1);
  const ImageBatches batches(*images, 1, 5, {.flip = true}, kMean, kStd);
  ImageBatch batch;
  int flipped = 0;
  for (std::uint64_t step = 0; step < 100; ++step) {
    batches.fill(step, 0, batch);
    const int first = static_cast<int>(std::lround(batch.images[0]));
    ASSERT_TRUE(first == 0 || first == 2);
    EXPECT_NEAR(batch.images[4], 4, 1e-3);
    flipped += first == 2 ? 1 : 0;
  }
  EXPECT_NEAR(flipped, 50, 20);
}

TEST(ImageRows, AreNormalised) {
  const auto images = six_pixels(1);
  ImageBatch batch;
  ImageEvalBatches(*images, 1, {0.5F, 0, 0}, {0.25F, 0, 0}).fill(0, batch);
  EXPECT_FLOAT_EQ(batch.images[5], (5.0F / 255 - 0.5F) / 0.25F);
}

TEST(ImageRows, ForEvaluationComeInOrder) {
  const auto images = six_pixels(5);
  const ImageEvalBatches all(*images, 2, kMean, kStd);
  ASSERT_EQ(all.size(), 3U);
  ImageBatch batch;
  all.fill(2, batch);
  EXPECT_EQ(batch.labels, (std::vector<std::int64_t>{4}));
  EXPECT_EQ(batch.images.size(), 6U);
  EXPECT_EQ(ImageEvalBatches(*images, 2, kMean, kStd, 1).size(), 1U);
  EXPECT_THROW(all.fill(3, batch), Error);
}

TEST(ImageRows, OutsideTheirBoundsAreRefused) {
  const auto images = six_pixels(2);
  EXPECT_THROW(ImageBatches(*images, 0, 0, {}, kMean, kStd), Error);
  EXPECT_THROW(ImageBatches(*images, 1, 0, {.crop_padding = -1}, kMean, kStd), Error);
  EXPECT_THROW(ImageBatches(*images, 1, 0, {}, kMean, kStd, 0), Error);
  EXPECT_THROW(ImageEvalBatches(*six_pixels(0), 1, kMean, kStd), Error);
}

}  // namespace
}  // namespace bcos::lab::data
