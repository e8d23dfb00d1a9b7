#include <filesystem>

#include "lab/data/decode_image.hpp"
#include "lab/data/images.hpp"
#include "tests/lab/data/sample_images.hpp"
#include "tests/lab/data/scratch.hpp"

namespace bcos::lab::data {
namespace {

void expect_colour(const RgbImage& image, int red, int green, int blue) {
  ASSERT_EQ(image.pixels.size(), static_cast<std::size_t>(3 * image.width * image.height));
  EXPECT_NEAR(image.pixels[0], red, 4);
  EXPECT_NEAR(image.pixels[1], green, 4);
  EXPECT_NEAR(image.pixels[2], blue, 4);
}

TEST(AnImage, IsDecodedByItsContent) {
  expect_colour(decode_image(bytes_of(samples::kRedJpeg), "a.png"), 200, 30, 30);
  const RgbImage png = decode_image(bytes_of(samples::kPng), "n02105855_2933.JPEG");
  ASSERT_EQ(png.width, 4);
  ASSERT_EQ(png.height, 2);
  EXPECT_EQ(png.pixels[3 * 7], 30);
  EXPECT_EQ(png.pixels[3 * 7 + 1], 100);
  EXPECT_EQ(png.pixels[3 * 7 + 2], 7);
}

TEST(AnImage, InGreyOrCmykBecomesRgb) {
  expect_colour(decode_image(bytes_of(samples::kGreyJpeg), "grey.jpg"), 90, 90, 90);
  expect_colour(decode_image(bytes_of(samples::kCmykJpeg), "cmyk.jpg"), 255, 0, 0);
}

TEST(AnImage, ThatIsCutAnywhereIsRefused) {
  for (const std::string_view whole : {bytes_of(samples::kRedJpeg), bytes_of(samples::kPng)}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      expect_error([&] { decode_image(whole.substr(0, size), "cut.jpg"); }, {"cut.jpg"});
    }
  }
}

TEST(AnImage, WithItsBytesChangedNeverCrashes) {
  for (const std::string_view whole :
       {bytes_of(samples::kRedJpeg), bytes_of(samples::kCmykJpeg), bytes_of(samples::kPng)}) {
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const int change : {1, 0x80, 0xff}) {
        std::string bytes(whole);
        bytes[at] = static_cast<char>(bytes[at] ^ change);
        try {
          decode_image(bytes, "changed");
        } catch (const Error& error) {
          EXPECT_NE(std::string(error.what()).find("changed"), std::string::npos);
        }
      }
    }
  }
}

TEST(AnImage, WithATableThatIsTooLongForTheDecoderIsRefused) {
  std::string jpeg(bytes_of(samples::kRedJpeg));
  const std::size_t table = jpeg.find("\xff\xc4");
  ASSERT_NE(table, std::string::npos);
  // Two hundred codes of each of two lengths, and as many bytes for them.
  std::string counts(16, '\0');
  counts[14] = counts[15] = static_cast<char>(200);
  jpeg.insert(table, "\xff\xc4\x01" + std::string(1, static_cast<char>(2 + 17 + 400 - 256)) +
                         std::string(1, '\0') + counts + std::string(400, '\0'));
  expect_error([&] { decode_image(jpeg, "long.jpg"); }, {"damaged", "long.jpg"});
}

TEST(AnImage, OfImplausibleSizeIsRefused) {
  std::string png(bytes_of(samples::kPng));
  png.replace(16, 8, std::string("\0\0\x40\0\0\0\x40\0", 8));  // 16384 x 16384
  expect_error([&] { decode_image(png, "bomb.png"); }, {"bomb.png", "16384"});
}

TEST(AnImage, ThatIsSomethingElseIsRefused) {
  expect_error([] { decode_image("hello", "note.jpg"); }, {"JPEG or PNG", "note.jpg"});
  expect_error([] { decode_image("", "empty.jpg"); }, {"empty"});
}

TEST(ASquare, OfItsOwnSizeIsUnchanged) {
  const RgbImage image{2, 2, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  std::vector<std::uint8_t> chw(12);
  fit_square(image, 2, chw.data());
  EXPECT_EQ(chw, (std::vector<std::uint8_t>{1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12}));
}

TEST(ASquare, IsTheMiddleOfALongImage) {
  RgbImage image{6, 2, std::vector<std::uint8_t>(36)};
  for (std::size_t i = 0; i < 12; ++i)
    image.pixels[3 * i] = static_cast<std::uint8_t>(10 * (i % 6));
  std::vector<std::uint8_t> chw(12);
  fit_square(image, 2, chw.data());
  EXPECT_EQ(chw[0], 20);
  EXPECT_EQ(chw[1], 30);
}

TEST(ASquare, ThatShrinksAveragesAllItCovers) {
  RgbImage image{8, 8, std::vector<std::uint8_t>(192)};
  for (std::size_t i = 0; i < 192; ++i) image.pixels[i] = i / 3 % 2 == 0 ? 0 : 200;
  std::vector<std::uint8_t> chw(12);
  fit_square(image, 2, chw.data());
  for (const std::uint8_t value : chw) EXPECT_NEAR(value, 100, 12);
}

TEST(ASquare, ThatGrowsStaysBetweenItsNeighbours) {
  const RgbImage image{2, 1, {0, 0, 0, 100, 100, 100}};
  std::vector<std::uint8_t> chw(48);
  fit_square(image, 4, chw.data());
  // The middle half of a row of eight: an eighth of the way from one pixel to the other, and back.
  EXPECT_NEAR(chw[0], 12.5, 0.6);
  EXPECT_NEAR(chw[1], 37.5, 0.6);
  EXPECT_NEAR(chw[3], 87.5, 0.6);
}

class AnImageFolder : public ::testing::Test {
 protected:
  AnImageFolder() {
    scratch_.write("train/cat/1.jpg", bytes_of(samples::kRedJpeg));
    scratch_.write("train/cat/0.JPEG", bytes_of(samples::kPng));
    scratch_.write("train/dog/a.png", bytes_of(samples::kGreyJpeg));
    scratch_.write("train/dog/notes.txt", "not an image");
    scratch_.write("train/dog/.hidden.png", "neither");
    scratch_.write("val/dog/a.jpeg", bytes_of(samples::kCmykJpeg));
  }
  ImageData open() const { return open_images({.data = scratch_.path(), .image_size = 4}); }
  void refused(const std::vector<std::string>& words) const {
    expect_error([&] { open(); }, words);
  }
  Scratch scratch_;
};

TEST_F(AnImageFolder, HasTheClassesOfItsFolders) {
  const ImageData data = open();
  EXPECT_EQ(data.train->class_names(), (std::vector<std::string>{"cat", "dog"}));
  ASSERT_EQ(data.train->size(), 3U);
  EXPECT_EQ(data.train->shape(), (ImageShape{3, 4, 4}));
  EXPECT_EQ(data.train->label(0), 0);
  EXPECT_EQ(data.train->label(2), 1);
  EXPECT_EQ(data.val->size(), 1U);
  EXPECT_EQ(data.val->label(0), 1);
  std::vector<std::uint8_t> image(48);
  data.train->read(1, image);
  EXPECT_NEAR(image[0], 200, 4);
  data.val->read(0, image);
  EXPECT_NEAR(image[0], 255, 4);
  EXPECT_EQ(data.files.size(), 2U);
  EXPECT_FLOAT_EQ(data.mean[0], 0.485F);
}

TEST_F(AnImageFolder, ChangesItsFactWithAName) {
  const auto before = open().files;
  scratch_.write("train/cat/2.jpg", bytes_of(samples::kRedJpeg));
  const auto after = open().files;
  EXPECT_FALSE(before[0] == after[0]);
  EXPECT_TRUE(before[1] == after[1]);
}

TEST_F(AnImageFolder, WithAnEmptyClassIsRefused) {
  std::filesystem::create_directories(scratch_.path("train/eel"));
  refused({"train/eel", "none"});
}

TEST_F(AnImageFolder, WithAClassThatTrainingLacksIsRefused) {
  scratch_.write("val/eel/a.jpg", bytes_of(samples::kRedJpeg));
  refused({"val", "eel"});
}

TEST_F(AnImageFolder, WithoutValidationOrClassesIsRefused) {
  std::filesystem::remove_all(scratch_.path("val"));
  refused({"'val'"});
  scratch_.write("val/a.jpg", bytes_of(samples::kRedJpeg));
  refused({"folder for every class", "val"});
}

TEST_F(AnImageFolder, WithAStrayFileIsRefusedBeforeAnyIsRead) {
  scratch_.write("train/cat/2.jpg", "<html>not found</html>");
  refused({"train/cat/2.jpg", "something else"});
  scratch_.write("train/cat/2.jpg", "");
  refused({"train/cat/2.jpg", "an empty file"});
}

TEST_F(AnImageFolder, TakesACutImageForABlackOneAndSaysSoOnce) {
  const std::string_view jpeg = bytes_of(samples::kRedJpeg);
  scratch_.write("train/cat/1.jpg", jpeg.substr(0, jpeg.size() - 20));
  const ImageData data = open();
  std::vector<std::uint8_t> image(48);
  for (int time = 0; time < 2; ++time) {
    image[5] = 7;
    data.train->read(1, image);
    EXPECT_EQ(image, std::vector<std::uint8_t>(48));
  }
  const std::vector<std::string> complaints = data.train->take_complaints();
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_NE(complaints[0].find("train/cat/1.jpg' but received a cut one"), std::string::npos);
  EXPECT_NE(complaints[0].find("taken for a black one"), std::string::npos);
  EXPECT_TRUE(data.train->take_complaints().empty());
}

TEST_F(AnImageFolder, WithManyCutImagesIsRefused) {
  const std::string_view jpeg = bytes_of(samples::kRedJpeg);
  scratch_.write("train/cat/1.jpg", jpeg.substr(0, jpeg.size() - 20));
  scratch_.write("train/cat/2.jpg", jpeg.substr(0, jpeg.size() - 30));
  const ImageData data = open();
  std::vector<std::uint8_t> image(48);
  data.train->read(1, image);
  expect_error([&] { data.train->read(2, image); }, {"at most one damaged image in 100", "2.jpg"});
  data.train->read(1, image);
}

TEST_F(AnImageFolder, ThatLostAnImageNamesItWhenItIsRead) {
  const ImageData data = open();
  std::vector<std::uint8_t> image(48);
  std::filesystem::remove(scratch_.path("train/cat/1.jpg"));
  expect_error([&] { data.train->read(1, image); }, {"train/cat/1.jpg"});
}

}  // namespace
}  // namespace bcos::lab::data
