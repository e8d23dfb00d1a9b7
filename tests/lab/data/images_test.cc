#include "lab/data/images.hpp"

#include <zlib.h>

#include <cmath>
#include <filesystem>

#include "lab/data/image_formats.hpp"
#include "tests/lab/data/scratch.hpp"

namespace bcos::lab::data {
namespace {

using Image = std::vector<std::uint8_t>;

std::string big_endian(const std::vector<std::uint32_t>& words) {
  std::string bytes;
  for (const std::uint32_t word : words) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(word >> shift));
  }
  return bytes;
}

std::string gzip(const std::string& bytes) {
  std::string packed(compressBound(bytes.size()) + 64, '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
  std::string copy = bytes;
  stream.next_in = reinterpret_cast<Bytef*>(copy.data());
  stream.avail_in = static_cast<uInt>(copy.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

Image read(const Images& images, std::uint64_t i) {
  Image image(images.shape().bytes());
  images.read(i, image);
  return image;
}

std::string idx_images(std::uint32_t count) {
  std::string values;
  for (std::uint32_t i = 0; i < count * 6; ++i) values.push_back(static_cast<char>(i));
  return big_endian({0x803, count, 2, 3}) + values;
}

std::string idx_labels(const std::string& labels) {
  return big_endian({0x801, static_cast<std::uint32_t>(labels.size())}) + labels;
}

class IdxFolder : public ::testing::Test {
 protected:
  IdxFolder() {
    scratch_.write("train-images-idx3-ubyte", idx_images(3));
    scratch_.write("train-labels-idx1-ubyte", idx_labels({0, 2, 1}));
    scratch_.write("t10k-images-idx3-ubyte.gz", gzip(idx_images(2)));
    scratch_.write("t10k-labels-idx1-ubyte.gz", gzip(idx_labels({1, 1})));
  }
  ImageData open() const { return open_images({.data = scratch_.path()}); }
  void refused(const std::vector<std::string>& words) const {
    expect_error([&] { open(); }, words);
  }

  Scratch scratch_;
};

TEST_F(IdxFolder, IsReadRawAndPacked) {
  const ImageData data = open();
  EXPECT_EQ(data.train->shape(), (ImageShape{1, 2, 3}));
  EXPECT_EQ(data.train->size(), 3U);
  EXPECT_EQ(data.train->classes(), 3);
  EXPECT_EQ(read(*data.train, 1), (Image{6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(data.train->label(1), 2);
  EXPECT_EQ(data.val->size(), 2U);
  EXPECT_EQ(read(*data.val, 0), (Image{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(data.files.size(), 4U);
  EXPECT_NEAR(data.mean[0], 8.5 / 255, 1e-6);
  EXPECT_NEAR(data.std[0], std::sqrt((18 * 18 - 1) / 12.0) / 255, 1e-6);
  EXPECT_NE(data.described.find("3 + 2 images"), std::string::npos) << data.described;
}

TEST_F(IdxFolder, WithTooFewOrTooManyBytesIsRefused) {
  const std::string good = idx_images(3);
  scratch_.write("train-images-idx3-ubyte", good.substr(0, good.size() - 1));
  refused({"34 bytes", "33", "train-images"});
  scratch_.write("train-images-idx3-ubyte", good + "x");
  refused({"34 bytes", "35"});
  scratch_.write("train-images-idx3-ubyte", good);
  scratch_.write("t10k-images-idx3-ubyte.gz", gzip(idx_images(2) + "x"));
  refused({"28 bytes", "t10k-images"});
  scratch_.write("t10k-images-idx3-ubyte.gz", gzip(idx_images(2).substr(0, 20)));
  refused({"28 bytes", "20"});
}

TEST_F(IdxFolder, WithAnotherNumberOfLabelsIsRefused) {
  scratch_.write("train-labels-idx1-ubyte", idx_labels({0, 1}));
  refused({"3 labels", "2", "train-labels"});
  scratch_.write("train-labels-idx1-ubyte", idx_labels({0, 1, 2, 1}));
  refused({"3 labels", "4", "train-labels"});
}

TEST_F(IdxFolder, WithALabelThatTrainingDoesNotHaveIsRefused) {
  scratch_.write("t10k-labels-idx1-ubyte.gz", gzip(idx_labels({1, 10})));
  refused({"up to 2", "10"});
}

TEST_F(IdxFolder, WithHostileHeadersIsRefusedBeforeAllocating) {
  for (const std::vector<std::uint32_t>& header :
       std::vector<std::vector<std::uint32_t>>{{0x803, 0xffffffff, 0xffffffff, 0xffffffff},
                                               {0x804, 0x80000000, 0x80000000, 4, 1},
                                               {0x803, 0xffff, 0xffff, 1},
                                               {0x803, 0, 2, 3},
                                               {0x803, 1},
                                               {0xd03, 1, 2, 3},
                                               {0x8ff, 1, 2, 3},
                                               {0x800},
                                               {}}) {
    scratch_.write("train-images-idx3-ubyte", big_endian(header));
    refused({"train-images"});
  }
  std::filesystem::remove(scratch_.path("train-images-idx3-ubyte"));
  scratch_.write("train-images-idx3-ubyte.gz", gzip(big_endian({0x803, 0xffff, 0xfff, 1})));
  refused({"cannot hold"});
}

TEST_F(IdxFolder, WithDamagedOrCutGzipIsRefused) {
  const std::string good = gzip(idx_images(2));
  for (std::size_t size = 2; size < good.size() - 8; ++size) {
    scratch_.write("t10k-images-idx3-ubyte.gz", good.substr(0, size));
    refused({"t10k-images"});
  }
  std::string bad = good;
  bad[good.size() - 6] = static_cast<char>(bad[good.size() - 6] ^ 1);  // its checksum
  scratch_.write("t10k-images-idx3-ubyte.gz", bad);
  refused({"damaged"});
}

TEST_F(IdxFolder, WithAMissingFileIsRefused) {
  std::filesystem::remove(scratch_.path("train-labels-idx1-ubyte"));
  refused({"train-labels-idx1-ubyte"});
}

std::string cifar_record(int label, char red, std::size_t label_bytes = 1) {
  return std::string(label_bytes - 1, '\7') + static_cast<char>(label) + std::string(1024, red) +
         std::string(1024, '\2') + std::string(1024, '\3');
}

TEST(CifarTen, IsReadFromAnyNumberOfBatches) {
  const Scratch scratch;
  scratch.write("data_batch_2.bin", cifar_record(9, 100));
  scratch.write("data_batch_1.bin", cifar_record(1, 50) + cifar_record(2, 60));
  scratch.write("test_batch.bin", cifar_record(0, 70));
  scratch.write("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n\n");
  const ImageData data = open_images({.data = scratch.path()});
  EXPECT_EQ(data.train->size(), 3U);
  EXPECT_EQ(data.train->shape(), (ImageShape{3, 32, 32}));
  EXPECT_EQ(data.train->label(2), 9);
  const Image image = read(*data.train, 1);
  EXPECT_EQ(image[0], 60);
  EXPECT_EQ(image[1024], 2);
  EXPECT_EQ(image[2048], 3);
  EXPECT_EQ(data.val->size(), 1U);
  EXPECT_EQ(data.train->class_names().at(9), "j");
  EXPECT_NEAR(data.mean[0], 70.0 / 255, 1e-6);
  EXPECT_EQ(data.std[1], 1.0F);  // all the same
}

TEST(CifarTen, WithAWrongSizeOrLabelIsRefused) {
  const Scratch scratch;
  scratch.write("test_batch.bin", cifar_record(0, 70));
  scratch.write("data_batch_1.bin", cifar_record(1, 50) + cifar_record(10, 60));
  expect_error([&] { open_images({.data = scratch.path()}); },
               {"below 10", "record 1", "data_batch_1.bin"});
  scratch.write("data_batch_1.bin", cifar_record(1, 50) + "x");
  expect_error([&] { open_images({.data = scratch.path()}); }, {"3073", "3074"});
  scratch.write("data_batch_1.bin", "");
  expect_error([&] { open_images({.data = scratch.path()}); }, {"data_batch_1.bin"});
}

TEST(CifarHundred, IsReadByItsFineLabels) {
  const Scratch scratch;
  scratch.write("train.bin", cifar_record(99, 50, 2));
  scratch.write("test.bin", cifar_record(3, 50, 2));
  const ImageData data = open_images({.data = scratch.path()});
  EXPECT_EQ(data.train->classes(), 100);
  EXPECT_EQ(data.train->label(0), 99);
  scratch.write("test.bin", cifar_record(100, 50, 2));
  expect_error([&] { open_images({.data = scratch.path()}); }, {"below 100", "test.bin"});
}

TEST(AnImageSource, ThatIsNothingKnownIsRefusedWithAdvice) {
  const Scratch scratch;
  expect_error([&] { open_images({.data = scratch.path()}); }, {"train-images-idx3-ubyte"});
  expect_error([&] { open_images({.data = scratch.path("none")}); }, {"none"});
  expect_error([&] { open_images({.data = scratch.path(), .format = "tiff"}); }, {"tiff"});
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist")) {
    expect_error([&] { open_images({}); }, {"apt install dataset-fashion-mnist"});
  }
}

}  // namespace
}  // namespace bcos::lab::data
