#include <gtest/gtest.h>

#include <numeric>

#include "tests/engine/safetensors/support.hpp"

namespace bcos::safetensors {
namespace {

using Metadata = std::map<std::string, std::string>;

class SafetensorsRoundTrip : public testing::Test {
 protected:
  std::vector<float> floats_ = {1.5F, -2.0F, 0.0F, 3.25F, 1e30F, -1e-30F};
  std::vector<double> doubles_ = {3.14, 2.71};
  std::vector<std::uint8_t> bytes_ = {1, 2, 3};
  std::vector<TensorData> tensors_ = {
      {"small", "U8", {3}, bytes_of_vector(bytes_)},
      {"layer0.weight", "F32", {2, 3}, bytes_of_vector(floats_)},
      {"none", "F32", {4, 0}, {}},
      {"both", "F64", {2}, bytes_of_vector(doubles_)},
      {"scalar", "F64", {}, bytes_of_vector(doubles_).first(8)},
  };
  TemporaryDirectory directory_;
  std::string path_ = directory_.file("a.safetensors");
};

TEST_F(SafetensorsRoundTrip, GivesBackNamesShapesDtypesAndBytes) {
  write(path_, tensors_, {});
  const File file = File::open(path_);
  EXPECT_EQ(file.path(), path_);
  EXPECT_TRUE(file.has_checksums());
  ASSERT_EQ(file.tensors().size(), tensors_.size());
  for (const TensorData& tensor : tensors_) {
    const TensorInfo* info = file.find(tensor.name);
    ASSERT_NE(info, nullptr) << tensor.name;
    EXPECT_EQ(info->dtype, tensor.dtype);
    EXPECT_EQ(info->shape, tensor.shape);
    const std::vector<std::byte> data = read_all(file, *info);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), tensor.data.begin(), tensor.data.end()));
  }
  file.verify();
}

TEST_F(SafetensorsRoundTrip, GivesBackTheMetadataWithoutTheChecksums) {
  const Metadata metadata = {{"", "empty key"}, {"quotes \" and \\", "line\nand \x01 and \u00e9"}};
  write(path_, tensors_, metadata);
  EXPECT_EQ(File::open(path_).metadata(), metadata);
}

TEST_F(SafetensorsRoundTrip, KeepsOddButHarmlessNames) {
  std::vector<TensorData> tensors;
  const std::vector<std::string> names = {
      "a/b/c",      "a..b",           "...",
      "with space", "quote\"slash\\", "\u00fcn\u00efcode \U0001f600",
      "crc32c",     "crc32c:x",       std::string(4096, 'n')};
  for (const std::string& name : names) tensors.push_back({name, "F32", {0}, {}});
  write(path_, tensors, {});
  const File file = File::open(path_);
  for (const std::string& name : names) EXPECT_NE(file.find(name), nullptr) << name;
  EXPECT_EQ(file.find("not there"), nullptr);
}

TEST_F(SafetensorsRoundTrip, WritesTensorsOneAfterAnotherAtMultiplesOfTheirElementSize) {
  write(path_, tensors_, {});
  const File file = File::open(path_);
  std::vector<std::string> names;
  std::uint64_t end = 0;
  for (const TensorInfo& tensor : file.tensors()) {
    names.push_back(tensor.name);
    EXPECT_EQ(tensor.begin, end);
    EXPECT_EQ(tensor.begin % dtype_size(tensor.dtype), 0U);
    end = tensor.end;
  }
  const std::string bytes = get(path_);
  EXPECT_EQ((bytes.size() - end) % 8, 0U) << "data begin at a multiple of 8";
  EXPECT_EQ(names.back(), "small");
}

TEST_F(SafetensorsRoundTrip, WorksWithoutTensors) {
  write(path_, {}, {{"only", "metadata"}});
  const File file = File::open(path_);
  EXPECT_TRUE(file.tensors().empty());
  EXPECT_TRUE(file.has_checksums());
  EXPECT_EQ(file.metadata(), (Metadata{{"only", "metadata"}}));
  file.verify();
}

TEST_F(SafetensorsRoundTrip, WorksForTensorsLargerThanAnyBuffer) {
  std::vector<std::uint32_t> large(700'000);
  std::iota(large.begin(), large.end(), 0U);
  std::vector<TensorData> tensors = {{"large", "U32", {700'000}, bytes_of_vector(large)}};
  for (int i = 0; i < 5; ++i) {
    tensors.push_back({"part" + std::to_string(i),
                       "U32",
                       {200'000},
                       bytes_of_vector(large).subspan(40 * static_cast<std::size_t>(i), 800'000)});
  }
  write(path_, tensors, {});
  const File file = File::open(path_);
  file.verify();
  for (const TensorData& tensor : tensors) {
    const std::vector<std::byte> data = read_all(file, *file.find(tensor.name));
    EXPECT_TRUE(std::equal(data.begin(), data.end(), tensor.data.begin(), tensor.data.end()));
  }
}

TEST_F(SafetensorsRoundTrip, ReplacesAFileAndLeavesNothingElse) {
  put(path_, "something old");
  write(path_, tensors_, {});
  EXPECT_EQ(File::open(path_).tensors().size(), tensors_.size());
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_F(SafetensorsRoundTrip, GivesTheSameBytesForTheSameTensors) {
  write(path_, tensors_, {{"k", "v"}});
  const std::string first = get(path_);
  write(path_, tensors_, {{"k", "v"}});
  EXPECT_EQ(get(path_), first);
}

TEST_F(SafetensorsRoundTrip, ReadsOnlyItsOwnTensorsIntoTheRightRoom) {
  write(path_, tensors_, {});
  const File file = File::open(path_);
  TensorInfo stranger = *file.find("both");
  std::vector<std::byte> room(16);
  stranger.begin += 8;
  stranger.end += 8;
  EXPECT_EQ(error_of([&] { file.read(stranger, room); }).code(), ErrorCode::invalid_argument);
  stranger.name = "stranger";
  EXPECT_EQ(error_of([&] { file.read(stranger, room); }).code(), ErrorCode::invalid_argument);
  room.resize(15);
  EXPECT_EQ(error_of([&] { file.read(*file.find("both"), room); }).code(),
            ErrorCode::invalid_argument);
}

TEST_F(SafetensorsRoundTrip, KnowsTheSizesOfAllDtypes) {
  for (const char* one : {"BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2"}) EXPECT_EQ(dtype_size(one), 1U);
  for (const char* two : {"I16", "U16", "F16", "BF16"}) EXPECT_EQ(dtype_size(two), 2U);
  for (const char* four : {"I32", "U32", "F32"}) EXPECT_EQ(dtype_size(four), 4U);
  for (const char* eight : {"I64", "U64", "F64", "C64"}) EXPECT_EQ(dtype_size(eight), 8U);
  for (const char* none : {"", "f32", "F31", "F32 ", "FLOAT"}) EXPECT_EQ(dtype_size(none), 0U);
}

struct Refused {
  const char* why;
  std::vector<TensorData> tensors;
  Metadata metadata;
};

TEST_F(SafetensorsRoundTrip, WritesNothingOfWhatItWouldNotRead) {
  const std::span<const std::byte> four = bytes_of_vector(floats_).first(4);
  const std::uint64_t huge = std::uint64_t{1} << 62;
  const std::vector<Refused> all = {
      {"two of a name", {{"a", "F32", {1}, four}, {"b", "U8", {0}, {}}, {"a", "U8", {0}, {}}}, {}},
      {"empty name", {{"", "F32", {1}, four}}, {}},
      {"long name", {{std::string(4097, 'n'), "F32", {1}, four}}, {}},
      {"NUL in a name", {{std::string("a\0b", 3), "F32", {1}, four}}, {}},
      {"control character in a name", {{"a\x1b[2J", "F32", {1}, four}}, {}},
      {"C1 control character in a name", {{"a\u009b", "F32", {1}, four}}, {}},
      {"absolute name", {{"/etc/passwd", "F32", {1}, four}}, {}},
      {"name that climbs", {{"a/../../b", "F32", {1}, four}}, {}},
      {"name of the metadata", {{"__metadata__", "F32", {1}, four}}, {}},
      {"name not in UTF-8", {{"a\xff", "F32", {1}, four}}, {}},
      {"unknown dtype", {{"a", "F33", {1}, four}}, {}},
      {"too little data", {{"a", "F32", {2}, four}}, {}},
      {"too much data", {{"a", "F32", {0}, four}}, {}},
      {"overflow", {{"a", "F32", {huge, huge}, four}}, {}},
      {"overflow next to 0", {{"a", "F32", {huge, huge, 0}, {}}}, {}},
      {"size of 2^63", {{"a", "U8", {std::uint64_t{1} << 63, 0}, {}}}, {}},
      {"rank 65", {{"a", "F32", std::vector<std::uint64_t>(65, 1), four}}, {}},
      {"reserved key", {}, {{"crc32c", "00000000"}}},
      {"reserved key of a tensor", {}, {{"crc32c:a", "00000000"}}},
      {"key not in UTF-8", {}, {{"\xc3", ""}}},
      {"value not in UTF-8", {}, {{"k", "\xed\xa0\x80"}}},
  };
  for (const Refused& refused : all) {
    const Error error = error_of([&] { write(path_, refused.tensors, refused.metadata); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << refused.why;
    EXPECT_TRUE(contains(error.what(), "[safetensors::write] expected ")) << error.what();
    EXPECT_EQ(directory_.entries(), 0U) << refused.why;
  }
}

}  // namespace
}  // namespace bcos::safetensors
