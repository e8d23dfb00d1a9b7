#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "tests/engine/safetensors/support.hpp"

namespace bcos::safetensors {
namespace {

/// A file of a few KB as write() leaves it.
std::string small_file(const TemporaryDirectory& directory) {
  std::mt19937 random(3);
  std::vector<float> values(200);
  for (float& value : values) value = static_cast<float>(random()) / 1e9F;
  const std::span<const std::byte> bytes = bytes_of_vector(values);
  const std::vector<TensorData> tensors = {
      {"layer0.weight", "F32", {10, 10}, bytes.first(400)},
      {"layer0.bias", "F32", {10}, bytes.first(40)},
      {"back\\slash \"quote\" \u00e9", "F64", {4}, bytes.first(32)},
      {"spaces", "U8", {24}, std::as_bytes(std::span<const char>("                        ", 24))},
      {"empty", "F32", {0, 7}, {}},
      {"step", "I64", {}, bytes.subspan(100, 8)},
  };
  std::string path = directory.file("small.safetensors");
  write(path, tensors, {{"method", "bcosw_c"}, {"note", "a \\ b \" c"}, {"brc32c", "near"}});
  return path;
}

/// Empty if open() and verify() find nothing, else what they say.
std::string problem(const std::string& path) {
  try {
    File::open(path).verify();
  } catch (const Error& error) {
    return error.code() == ErrorCode::corrupt ? error.what() : "";
  }
  return {};
}

void put_byte(int fd, std::size_t at, char byte) {
  ASSERT_EQ(pwrite(fd, &byte, 1, static_cast<off_t>(at)), 1);
}

void expect_every_flip_found(const std::string& path) {
  ASSERT_EQ(problem(path), "");
  const std::string bytes = get(path);
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      put_byte(fd, at, static_cast<char>(bytes[at] ^ (1 << bit)));
      EXPECT_NE(problem(path), "") << "bit " << bit << " of byte " << at;
    }
    put_byte(fd, at, bytes[at]);
  }
  close(fd);
  EXPECT_EQ(problem(path), "");
}

TEST(SafetensorsDamage, OfAnySingleBitIsFound) {
  const TemporaryDirectory directory;
  expect_every_flip_found(small_file(directory));
}

TEST(SafetensorsDamage, OfAnySingleBitIsFoundWithoutTensors) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("none.safetensors");
  write(path, {}, {});
  expect_every_flip_found(path);
  write(path, {}, {{"k", "v"}});
  expect_every_flip_found(path);
}

TEST(SafetensorsDamage, OfAnySingleByteOfTheOpeningIsFound) {
  const TemporaryDirectory directory;
  const std::string path = small_file(directory);
  const std::string bytes = get(path);
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  for (std::size_t at = 0; at < 8 + kOpening.size() + 9; ++at) {
    for (int value = 0; value < 256; ++value) {
      if (static_cast<char>(value) == bytes[at]) continue;
      put_byte(fd, at, static_cast<char>(value));
      EXPECT_NE(problem(path), "") << "byte " << at << " as " << value;
    }
    put_byte(fd, at, bytes[at]);
  }
  close(fd);
}

TEST(SafetensorsDamage, ByCuttingAnywhereIsFound) {
  const TemporaryDirectory directory;
  const std::string path = small_file(directory);
  for (std::size_t size = get(path).size(); size-- > 0;) {
    ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(size)), 0);
    EXPECT_NE(problem(path), "") << "cut to " << size;
  }
}

TEST(SafetensorsDamage, ByAppendingIsFound) {
  const TemporaryDirectory directory;
  const std::string path = small_file(directory);
  const std::string bytes = get(path);
  for (const std::string& more : {std::string(1, '\0'), std::string(" "), bytes}) {
    put(path, bytes + more);
    EXPECT_NE(problem(path), "");
  }
}

TEST(SafetensorsDamage, BySwappingOrZeroingIsFound) {
  const TemporaryDirectory directory;
  const std::string path = small_file(directory);
  const std::string bytes = get(path);
  std::mt19937 random(4);
  for (int i = 0; i < 500; ++i) {
    const std::size_t size = 1 + random() % 64;
    const std::size_t a = random() % (bytes.size() - size);
    const std::size_t b = random() % (bytes.size() - size);
    std::string damaged = bytes;
    if (i % 2 == 0) {
      damaged.replace(a, size, size, '\0');
    } else {
      damaged.replace(a, size, bytes, b, size);
    }
    if (damaged == bytes) continue;
    put(path, damaged);
    EXPECT_NE(problem(path), "") << size << " bytes at " << a << " and " << b;
  }
}

TEST(SafetensorsDamage, OfDataIsFoundByReadingThatTensorAndNamesIt) {
  const TemporaryDirectory directory;
  const std::string path = small_file(directory);
  std::string bytes = get(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  put(path, bytes);
  const File file = File::open(path);
  EXPECT_EQ(read_all(file, *file.find("layer0.bias")).size(), 40U);
  const Error error = error_of([&] { read_all(file, file.tensors().back()); });
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_TRUE(contains(error.what(), "[safetensors::read] expected CRC32C")) << error.what();
  EXPECT_TRUE(contains(error.what(), "\"spaces\"")) << error.what();
  EXPECT_TRUE(contains(error.what(), path)) << error.what();
}

TEST(SafetensorsDamage, ByCuttingAnOpenFileIsAnErrorAndNoSignal) {
  const TemporaryDirectory directory;
  const std::string path = small_file(directory);
  const File file = File::open(path);
  ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(get(path).size() - 30)), 0);
  const Error error = error_of([&] { file.verify(); });
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_TRUE(contains(error.what(), "cut while open")) << error.what();
}

TEST(SafetensorsDamage, DoesNotReachAFileThatWasReplacedWhileOpen) {
  const TemporaryDirectory directory;
  const std::string path = small_file(directory);
  const File file = File::open(path);
  write(path, {}, {});
  file.verify();
  EXPECT_EQ(file.tensors().size(), 6U);
}

}  // namespace
}  // namespace bcos::safetensors
