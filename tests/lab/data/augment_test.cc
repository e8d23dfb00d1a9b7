#include "lab/data/augment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "engine/error.hpp"
#include "lab/data/batches.hpp"

namespace bcos::lab::data {
namespace {

constexpr ImageShape kShape = {2, 12, 10};
constexpr ChannelNumbers kMean = {0, 0, 0};
constexpr ChannelNumbers kStd = {1.0F / 255, 1.0F / 255, 1};  // so that values are the pixels

/// Pixels that say where they are: 20 y in the first channel, 20 x in the second.
std::vector<std::uint8_t> places() {
  std::vector<std::uint8_t> pixels;
  for (int c = 0; c < kShape.channels; ++c) {
    for (int y = 0; y < kShape.height; ++y) {
      for (int x = 0; x < kShape.width; ++x) {
        pixels.push_back(static_cast<std::uint8_t>(20 * (c == 0 ? y : x)));
      }
    }
  }
  return pixels;
}

std::vector<float> rendered(const Change& change) {
  std::vector<float> out(kShape.bytes());
  render(places().data(), kShape, change, kMean, kStd, out.data());
  return out;
}

float at(const std::vector<float>& image, int c, int y, int x) {
  return image[static_cast<std::size_t>((c * kShape.height + y) * kShape.width + x)];
}

TEST(ACrop, ShowsAPartOfTheImageStretchedToTheWhole) {
  Change change = no_change(kShape);
  change.top = 3;
  change.height = 6;
  change.left = 2;
  change.width = 5;
  const std::vector<float> image = rendered(change);
  for (int y = 0; y < kShape.height; ++y) {
    for (int x = 0; x < kShape.width; ++x) {
      EXPECT_NEAR(at(image, 0, y, x), 20 * (3 + (y + 0.5) / 2 - 0.5), 1e-3);
      EXPECT_NEAR(at(image, 1, y, x), 20 * (2 + (x + 0.5) / 2 - 0.5), 1e-3);
    }
  }
  change.flip = true;
  EXPECT_EQ(at(rendered(change), 1, 4, 0), at(image, 1, 4, kShape.width - 1));
}

TEST(ACrop, OfEverythingIsTheImage) {
  Change change = no_change(kShape);
  const std::vector<float> image = rendered(change);
  change.height = std::nextafter(change.height, 0);  // takes the other path
  const std::vector<float> stretched = rendered(change);
  for (std::size_t i = 0; i < image.size(); ++i) EXPECT_NEAR(image[i], stretched[i], 1e-3);
}

TEST(Crops, HaveTheirAreaTheirShapeAndLieInside) {
  constexpr ImageShape square = {1, 100, 100};
  double least = 1;
  double sum = 0;
  double narrowest = 1;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const Change change = draw_change({.smallest_crop = 0.2}, square, Random(1, i));
    EXPECT_GE(change.top, 0);
    EXPECT_GE(change.left, 0);
    EXPECT_LE(change.top + change.height, 100 + 1e-9);
    EXPECT_LE(change.left + change.width, 100 + 1e-9);
    const double part = change.height * change.width / 1e4;
    least = std::min(least, part);
    sum += part;
    narrowest = std::min(narrowest, change.width / change.height);
  }
  EXPECT_GE(least, 0.2 * 0.999);
  EXPECT_LT(least, 0.21);
  EXPECT_NEAR(sum / 4000, 0.6, 0.02);
  EXPECT_NEAR(narrowest, 0.75, 0.01);
}

TEST(Erasing, GivesARectangleTheMeanAsOftenAsAsked) {
  constexpr ImageShape square = {1, 100, 100};
  int erased = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const Box box = draw_change({.erase = 0.25}, square, Random(1, i)).erased;
    if (box.area() == 0) continue;
    ++erased;
    EXPECT_GE(box.area(), 150);
    EXPECT_LE(box.area(), 3500);
    EXPECT_GE(std::min(box.top, box.left), 0);
    EXPECT_LE(std::max(box.bottom, box.right), 100);
  }
  EXPECT_NEAR(erased, 500, 80);

  Change change = no_change(kShape);
  change.erased = {2, 3, 5, 9};
  std::vector<float> out(kShape.bytes());
  render(places().data(), kShape, change, {0.5F, 0.5F, 0.5F}, {1, 1, 1}, out.data());
  EXPECT_EQ(std::ranges::count(out, 0.0F), 2 * 3 * 6);
  EXPECT_EQ(at(out, 1, 4, 8), 0);
  EXPECT_NE(at(out, 1, 5, 8), 0);
}

/// Rows of one colour each: 0, 1, 2, ...
std::vector<float> colours(std::uint64_t rows) {
  std::vector<float> images;
  for (std::uint64_t row = 0; row < rows; ++row) {
    images.insert(images.end(), kShape.bytes(), static_cast<float>(row));
  }
  return images;
}

TEST(Mixing, FadesRowsIntoThoseFromTheEnd) {
  std::vector<float> images = colours(5);
  mix_rows({.share = 0.75, .fades = true, .swapped = {}}, kShape, 5, images.data());
  const auto colour = [&](std::size_t row) { return images[row * kShape.bytes() + 7]; };
  EXPECT_FLOAT_EQ(colour(0), 0.75F * 0 + 0.25F * 4);
  EXPECT_FLOAT_EQ(colour(4), 0.75F * 4 + 0.25F * 0);
  EXPECT_FLOAT_EQ(colour(1), 0.75F * 1 + 0.25F * 3);
  EXPECT_FLOAT_EQ(colour(2), 2);
}

TEST(Mixing, SwapsRectanglesInTheirShare) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Mix mix = draw_mix({.cutmix = 1}, kShape, Random(3, i));
    ASSERT_FALSE(mix.fades);
    std::vector<float> images = colours(4);
    mix_rows(mix, kShape, 4, images.data());
    const auto first = std::span(images).first(kShape.bytes());
    const auto own = std::ranges::count(first, 0.0F);
    const auto others = std::ranges::count(first, 3.0F);
    EXPECT_EQ(own + others, static_cast<long>(kShape.bytes()));
    EXPECT_NEAR(static_cast<double>(own) / static_cast<double>(kShape.bytes()), mix.share, 1e-12);
  }
}

TEST(Mixing, DrawsItsSharesFromBeta) {
  for (const double a : {1e-12, 0.2, 0.8, 1.0}) {
    double sum = 0;
    double squares = 0;
    constexpr int kDraws = 20000;
    for (std::uint64_t i = 0; i < kDraws; ++i) {
      const double share = draw_mix({.mixup = a}, kShape, Random(5, i)).share;
      sum += share;
      squares += (share - 0.5) * (share - 0.5);
    }
    EXPECT_NEAR(sum / kDraws, 0.5, 0.02);
    EXPECT_NEAR(squares / kDraws, 1 / (4 * (2 * a + 1)), 0.01) << a;
  }
}

TEST(Mixing, TakesTurnsWhereBothAreAskedFor) {
  int fades = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    fades += draw_mix({.mixup = 0.8, .cutmix = 1}, kShape, Random(7, i)).fades ? 1 : 0;
  }
  EXPECT_NEAR(fades, 500, 80);
  EXPECT_EQ(draw_mix({}, kShape, Random(7, 0)).share, 1);
}

TEST(Augmentation, OutOfRangeIsNamed) {
  const double nan = std::nan("");
  EXPECT_NO_THROW(check(Augment{}));
  for (const Augment& wrong :
       {Augment{.crop_padding = 65}, Augment{.smallest_crop = 0}, Augment{.smallest_crop = 1.1},
        Augment{.smallest_crop = nan}, Augment{.erase = -0.1}, Augment{.mixup = 2},
        Augment{.cutmix = nan}}) {
    EXPECT_THROW(check(wrong), Error);
  }
}

TEST(Batches, AreMixedByTheSeedAloneAndSayHow) {
  std::string pixels;
  for (int i = 0; i < 4; ++i) pixels.append(kShape.bytes(), static_cast<char>(10 * i));
  const auto images = images_in_memory(kShape, {"a", "b", "c", "d"}, pixels, {0, 1, 2, 3});
  const ImageBatches batches(*images, 4, 9, {.mixup = 1}, kMean, kStd);
  ImageBatch batch;
  batches.fill(3, 0, batch);
  const auto share = static_cast<float>(batch.share);
  for (std::size_t row = 0; row < 4; ++row) {
    const auto own = static_cast<float>(10 * batch.labels[row]);
    const auto other = static_cast<float>(10 * batch.labels[3 - row]);
    EXPECT_NEAR(batch.images[row * kShape.bytes()], share * own + (1 - share) * other, 1e-3);
  }
  ImageBatch again;
  batches.fill(3, 0, again);
  EXPECT_EQ(again.images, batch.images);
  EXPECT_EQ(again.share, batch.share);
  ImageEvalBatches(*images, 4, kMean, kStd).fill(0, batch);
  EXPECT_EQ(batch.share, 1);
}

}  // namespace
}  // namespace bcos::lab::data
