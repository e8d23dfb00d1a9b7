#include "lab/data/describe.hpp"

#include "lab/data/token_writer.hpp"
#include "tests/lab/data/sample_images.hpp"
#include "tests/lab/data/scratch.hpp"

namespace bcos::lab::data {
namespace {

std::string fact(const FileDescription& described, const std::string& name) {
  for (const auto& [key, value] : described.facts) {
    if (key == name) return value;
  }
  return "(no " + name + ")";
}

TEST(ADescription, OfTokensShowsTheirRange) {
  const Scratch scratch;
  TokenWriter writer(scratch.path("t.bin"));
  writer.append(std::vector<std::uint32_t>{5, 60000, 7});
  writer.finish();
  const auto shard = describe_file(scratch.path("t.bin"));
  EXPECT_EQ(shard.format, "llm.c tokens");
  EXPECT_EQ(fact(shard, "tokens"), "3");
  EXPECT_EQ(fact(shard, "largest id"), "60000");
  EXPECT_EQ(fact(shard, "first tokens"), "5 60000 7");
  const auto raw = describe_file(scratch.write("raw.bin", "ab"));
  EXPECT_EQ(raw.format, "nanoGPT tokens");
  EXPECT_EQ(fact(raw, "largest id"), "25185");
}

TEST(ADescription, OfTextCountsCharacters) {
  const Scratch scratch;
  const auto text = describe_file(scratch.write("t.txt", "caf\u00e9 \u00e9"));
  EXPECT_EQ(text.format, "text (UTF-8)");
  EXPECT_EQ(fact(text, "bytes"), "8");
  EXPECT_EQ(fact(text, "characters"), "6");
  EXPECT_EQ(fact(text, "distinct characters"), "5");
  EXPECT_EQ(fact(text, "begins"), "caf\u00e9 \u00e9");
  const auto bytes = describe_file(scratch.write("b.txt", "caf\xe9"));
  EXPECT_EQ(fact(bytes, "not UTF-8 at"), "3");
}

TEST(ADescription, OfIdxLabelsCountsThem) {
  const Scratch scratch;
  const std::string labels("\0\0\x08\1\0\0\0\3\2\0\2", 11);
  const auto described = describe_file(scratch.write("labels", labels));
  EXPECT_EQ(fact(described, "shape"), "3");
  EXPECT_EQ(fact(described, "labels"), "0: 1, 2: 2");
  EXPECT_THROW(describe_file(scratch.write("cut", labels.substr(0, 10))), Error);
}

TEST(ADescription, OfImagesGivesTheirSize) {
  const Scratch scratch;
  EXPECT_EQ(fact(describe_file(scratch.write("a", bytes_of(samples::kPng))), "size"), "4 x 2");
  scratch.write("train/cat/a.png", bytes_of(samples::kPng));
  scratch.write("val/cat/a.png", bytes_of(samples::kPng));
  const auto folder = describe_file(scratch.path());
  EXPECT_EQ(fact(folder, "classes"), "cat");
  EXPECT_EQ(fact(folder, "training labels"), "0: 1");
}

TEST(ADescription, OfACifarBatchCountsItsLabels) {
  const Scratch scratch;
  const auto batch = scratch.write("data_batch_1.bin", std::string(3073, '\3'));
  EXPECT_EQ(fact(describe_file(batch), "labels"), "3: 1");
  EXPECT_THROW(describe_file(scratch.write("test_batch.bin", "abc")), Error);
}

TEST(ADescription, OfAPackedFileSaysWhatToDo) {
  const Scratch scratch;
  const auto xz = describe_file(scratch.write("t.xz", std::string("\xfd\x37zXZ\0", 6)));
  EXPECT_NE(xz.format.find("unpack"), std::string::npos);
}

TEST(ADescription, OfNothingIsAnError) {
  const Scratch scratch;
  expect_error([&] { describe_file(scratch.path("none")); }, {"none"});
}

}  // namespace
}  // namespace bcos::lab::data
