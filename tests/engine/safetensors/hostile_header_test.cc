#include <gtest/gtest.h>

#include "tests/engine/safetensors/hostile_files.hpp"
#include "tests/engine/safetensors/support.hpp"

namespace bcos::safetensors {
namespace {

#ifndef __has_feature
#define __has_feature(name) 0
#endif

// Sanitizers make the parser ten times slower.
#ifdef NDEBUG
constexpr int kMany = 1'000'000;
#else
constexpr int kMany = 100'000;  // unoptimised or sanitized
#endif

TEST(SafetensorsHostileHeader, IsRefusedWithAMessageThatNamesTheFileAndTheFault) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("hostile.safetensors");
  const std::vector<Row> rows = hostile_files();
  EXPECT_GE(rows.size(), 60U);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.why);
    put(path, row.bytes);
    const Error error = error_of([&] { File::open(path); });
    const std::string text = error.what();
    EXPECT_EQ(error.code(), ErrorCode::corrupt) << text;
    EXPECT_TRUE(text.starts_with("[safetensors::open] expected ")) << text;
    EXPECT_TRUE(contains(text, " but received ")) << text;
    EXPECT_TRUE(text.ends_with(" in '" + path + "'")) << text;
    EXPECT_TRUE(contains(text, row.message)) << text;
    EXPECT_LT(text.size(), 1000U);
  }
}

TEST(SafetensorsUnusualHeader, IsAcceptedWhereTheFormatAllowsIt) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("unusual.safetensors");
  const std::vector<Row> rows = {
      {"nothing", file_bytes("{}"), ""},
      {"white space around", file_bytes(" \t\r\n{ } \t\r\n"), ""},
      {"empty metadata", file_bytes(R"({"__metadata__":{}})"), ""},
      {"metadata last", file_bytes(std::string("{") + kTensor + R"(,"__metadata__":{"k":"v"}})", 4),
       ""},
      {"scalar", entry("\"F32\"", "[]", "[0,4]"), ""},
      {"rank 64", entry("\"F32\"", "[1" + repeat(",1", 63) + "]", "[0,4]"), ""},
      {"keys in another order",
       file_bytes(R"({"a":{"data_offsets":[0,4],"shape":[1],"dtype":"F32"}})", 4), ""},
      {"tensors in another order", two(4, 8, 0, 4), ""},
      {"empty tensor at the start", two(0, 0, 0, 8), ""},
      {"empty tensor at the end", two(8, 8, 0, 8), ""},
      {"empty tensor between", two(8, 8, 0, 8), ""},
      {"large sizes next to 0",
       file_bytes(R"({"a":{"dtype":"U8","shape":[0,9223372036854775807],)"
                  R"("data_offsets":[0,0]}})"),
       ""},
      {"name with dots", named("\"a..b/...\""), ""},
      {"name of 4096 bytes", named("\"" + std::string(4096, 'n') + "\""), ""},
      {"name in escapes", named("\"\\u00e9\\ud83d\\ude00\""), ""},
      {"text that looks like a checksum", file_bytes(R"({"__metadata__":{"k":"crc32c"}})"), ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.why);
    put(path, row.bytes);
    const File file = File::open(path);
    EXPECT_FALSE(file.has_checksums());
    file.verify();
    for (const TensorInfo& tensor : file.tensors()) read_all(file, tensor);
  }
}

TEST(SafetensorsManyTensors, AreOpenedAndFound) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("many.safetensors");
  std::string header = "{";
  for (int i = 0; i < kMany; ++i) {
    header += (i == 0 ? "\"" : ",\"") + std::to_string(i) +
              R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  }
  put(path, file_bytes(header + "}"));
  const File file = File::open(path);
  EXPECT_EQ(file.tensors().size(), static_cast<std::size_t>(kMany));
  EXPECT_NE(file.find(std::to_string(kMany - 1)), nullptr);
  file.verify();
}

}  // namespace
}  // namespace bcos::safetensors
