#include "lab/data/tokens.hpp"

#include <filesystem>
#include <numeric>

#include "lab/data/token_files.hpp"
#include "lab/data/token_writer.hpp"
#include "tests/lab/data/scratch.hpp"

namespace bcos::lab::data {
namespace {

using Ids = std::vector<std::uint16_t>;

std::vector<std::int64_t> all_of(const Tokens& tokens) {
  std::vector<std::int64_t> ids(tokens.size());
  tokens.read(0, ids);
  return ids;
}

std::string header(std::vector<std::uint32_t> words) {
  words.resize(256);
  return little_endian(words);
}

std::string shard(const Ids& ids) {
  return header({20240520, 1, static_cast<std::uint32_t>(ids.size())}) + little_endian(ids);
}

TEST(TokensInMemory, KeepLargeIds) {
  const auto tokens = tokens_in_memory(std::vector<std::uint32_t>{1, 70000, 3});
  EXPECT_EQ(all_of(*tokens), (std::vector<std::int64_t>{1, 70000, 3}));
  EXPECT_EQ(tokens->largest(), 70000U);
  std::vector<std::int64_t> two(2);
  EXPECT_THROW(tokens->read(2, two), Error);
}

TEST(ARawTokenFile, IsReadAsUint16) {
  const Scratch scratch;
  const auto path = scratch.write("a.bin", little_endian(Ids{5, 50256, 258}));
  const OpenedTokens opened = open_tokens({path}, 0);
  EXPECT_EQ(all_of(*opened.tokens), (std::vector<std::int64_t>{5, 50256, 258}));
  EXPECT_EQ(opened.tokens->largest(), 50256U);
  EXPECT_EQ(opened.format, TokenFormat::raw);
  EXPECT_EQ(opened.files.at(0).bytes, 6U);
}

TEST(ARawTokenFile, WithAnOddNumberOfBytesIsRefused) {
  const Scratch scratch;
  const auto path = scratch.write("odd.bin", "abc");
  expect_error([&] { open_tokens({path}, 0); }, {"even", "odd.bin", "3"});
}

TEST(ATokenFile, WithAnIdOutsideTheVocabularyIsRefusedWithItsPlace) {
  const Scratch scratch;
  Ids ids(600000, 7);  // more than one piece of the scan
  ids[599999] = 300;
  const auto path = scratch.write("big.bin", little_endian(ids));
  EXPECT_NO_THROW(open_tokens({path}, 301));
  expect_error([&] { open_tokens({path}, 300); }, {"300", "599999", "big.bin"});
}

TEST(AShard, OfLlmcIsRead) {
  const Scratch scratch;
  const auto path = scratch.write("a.bin", shard({1, 2, 3}));
  const OpenedTokens opened = open_tokens({path}, 0);
  EXPECT_EQ(opened.format, TokenFormat::gpt2);
  EXPECT_EQ(all_of(*opened.tokens), (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(AShard, OfLlama3HasIdsOfFourBytes) {
  const Scratch scratch;
  const std::vector<std::uint32_t> ids = {1, 100000};
  const auto path = scratch.write("a.bin", header({20240801, 7, 2}) + little_endian(ids));
  const OpenedTokens opened = open_tokens({path}, 0);
  EXPECT_EQ(all_of(*opened.tokens), (std::vector<std::int64_t>{1, 100000}));
  EXPECT_EQ(usual_vocabulary(opened.format), 128256U);
}

TEST(AShard, ThatIsWrongIsRefusedByName) {
  const Scratch scratch;
  const auto refused = [&](const std::string& bytes, const std::string& word) {
    const auto path = scratch.write("bad.bin", bytes);
    expect_error([&] { open_tokens({path}, 0); }, {word, "bad.bin"});
  };
  const std::string good = shard({1, 2, 3});
  refused(header({20240520, 2, 0}), "version 1");
  refused(header({20240520, 1, 4}) + little_endian(Ids{1, 2, 3}), "4 tokens");
  refused(header({20240520, 1, 0xffffffff}), "4294967295 tokens");
  refused(good.substr(0, good.size() - 1), "1030 bytes");
  refused(good + "x", "1030 bytes");
  refused(good.substr(0, 1000), "header of 1024");
  refused(header({20240522, 1, 1}), "evaluation");
}

TEST(Shards, AreJoinedInOrderOfName) {
  const Scratch scratch;
  scratch.write("t_2.bin", shard({4, 5}));
  scratch.write("t_0.bin", shard({1, 2, 3}));
  scratch.write("t_1.bin", shard({}));
  scratch.write("other.bin", shard({9}));
  const auto paths = matching_files(scratch.path("t_*.bin"));
  ASSERT_EQ(paths.size(), 3U);
  const OpenedTokens opened = open_tokens(paths, 0);
  EXPECT_EQ(all_of(*opened.tokens), (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
  std::vector<std::int64_t> across(2);
  opened.tokens->read(2, across);
  EXPECT_EQ(across, (std::vector<std::int64_t>{3, 4}));
  std::vector<std::int64_t> beyond(1);
  EXPECT_THROW(opened.tokens->read(5, beyond), Error);
}

TEST(Shards, OfTwoFormatsAreRefused) {
  const Scratch scratch;
  const auto a = scratch.write("a.bin", shard({1}));
  const auto b = scratch.write("b.bin", little_endian(Ids{1}));
  expect_error([&] { open_tokens({a, b}, 0); }, {"b.bin", "nanoGPT"});
}

TEST(Shards, ThatNoPatternFindsAreNamed) {
  const Scratch scratch;
  expect_error([&] { matching_files(scratch.path("x_*.bin")); }, {"x_*.bin"});
}

TEST(ATokenFile, ThatIsCutWhileInUseGivesAnError) {
  const Scratch scratch;
  const auto path = scratch.write("a.bin", little_endian(Ids(1000, 3)));
  const OpenedTokens opened = open_tokens({path}, 0);
  std::filesystem::resize_file(path, 100);
  std::vector<std::int64_t> ids(10);
  expect_error([&] { opened.tokens->read(500, ids); }, {"2000", "100", "changed while in use"});
  expect_error([&] { opened.tokens->read(0, ids); }, {"a.bin"});
}

TEST(ATokenFile, ThatIsReplacedByLargerIdsWhileInUseGivesAnError) {
  const Scratch scratch;
  const auto path = scratch.write("a.bin", little_endian(Ids(10, 3)));
  const OpenedTokens opened = open_tokens({path}, 0);
  scratch.write("a.bin", little_endian(Ids(10, 4)));
  std::vector<std::int64_t> ids(10);
  expect_error([&] { opened.tokens->read(0, ids); }, {"up to 3", "received 4"});
}

TEST(ATokenFile, ThatIsRemovedWhileInUseGivesAnError) {
  const Scratch scratch;
  const auto path = scratch.write("a.bin", little_endian(Ids(10, 3)));
  const OpenedTokens opened = open_tokens({path}, 0);
  std::filesystem::remove(path);
  std::vector<std::int64_t> ids(10);
  expect_error([&] { opened.tokens->read(0, ids); }, {"a.bin"});
}

TEST(TheTokenWriter, WritesShardsThatCanBeRead) {
  const Scratch scratch;
  TokenWriter writer(scratch.path("w.bin"), 4);
  std::vector<std::uint32_t> ids(10);
  std::iota(ids.begin(), ids.end(), 100);
  writer.append(std::span(ids).first(3));
  writer.append(std::span(ids).subspan(3));
  writer.finish();
  EXPECT_EQ(writer.tokens(), 10U);
  const auto paths = matching_files(scratch.path("w_*.bin"));
  EXPECT_EQ(paths, writer.paths());
  ASSERT_EQ(paths.size(), 3U);
  EXPECT_EQ(std::filesystem::file_size(paths[2]), 1024U + 2 * 2);
  const auto read = all_of(*open_tokens(paths, 0).tokens);
  EXPECT_EQ(read, std::vector<std::int64_t>(ids.begin(), ids.end()));
  expect_error([&] { TokenWriter again(scratch.path("w.bin"), 4); }, {"w_000000.bin", "remove"});
}

TEST(TheTokenWriter, WritesOneFileIfAskedForNoShards) {
  const Scratch scratch;
  TokenWriter writer(scratch.path("one.bin"));
  writer.append(std::vector<std::uint32_t>{1, 65535});
  EXPECT_FALSE(std::filesystem::exists(scratch.path("one.bin")));
  writer.finish();
  EXPECT_EQ(all_of(*open_tokens({scratch.path("one.bin")}, 65536).tokens),
            (std::vector<std::int64_t>{1, 65535}));
}

TEST(TheTokenWriter, RefusesIdsOfMoreThan16BitsAndOtherNames) {
  const Scratch scratch;
  TokenWriter writer(scratch.path("one.bin"));
  EXPECT_THROW(writer.append(std::vector<std::uint32_t>{65536}), Error);
  EXPECT_THROW(TokenWriter(scratch.path("one.txt")), Error);
}

}  // namespace
}  // namespace bcos::lab::data
