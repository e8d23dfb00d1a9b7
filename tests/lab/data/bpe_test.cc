#include "lab/data/bpe.hpp"

#include <algorithm>

#include "lab/data/bpe_words.hpp"
#include "lab/data/unicode.hpp"
#include "tests/lab/data/scratch.hpp"
#include "tests/lab/data/small_bpe.hpp"

namespace bcos::lab::data {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view text) {
  Words words;
  for (std::size_t at = 0; at < text.size(); at += words.back().size()) {
    words.emplace_back(text.substr(at, word_length(text, at)));
  }
  return words;
}

TEST(Words, KeepTheSpaceBeforeThem) {
  EXPECT_EQ(words_of("Hello world 42 !?"), (Words{"Hello", " world", " 42", " !?"}));
  EXPECT_EQ(words_of("a1b"), (Words{"a", "1", "b"}));
}

TEST(Words, EndInContractions) {
  EXPECT_EQ(words_of("I'm we'll they've it's'"),
            (Words{"I", "'m", " we", "'ll", " they", "'ve", " it", "'s", "'"}));
  EXPECT_EQ(words_of("'S ''s"), (Words{"'", "S", " ''", "s"}));
}

TEST(Words, LeaveTheLastSpaceToTheNext) {
  EXPECT_EQ(words_of("a   b"), (Words{"a", "  ", " b"}));
  EXPECT_EQ(words_of("a\n\nb"), (Words{"a", "\n", "\n", "b"}));
  EXPECT_EQ(words_of("a \n"), (Words{"a", " \n"}));
  EXPECT_EQ(words_of("a "), (Words{"a", " "}));
  EXPECT_EQ(words_of("  \tb"), (Words{"  ", "\t", "b"}));
}

TEST(Words, KnowTheLettersAndNumbersOfUnicode) {
  EXPECT_EQ(words_of("na\u00efve \u4e2d\u6587\u0665\u00bd \u2014\u00a0x"),
            (Words{"na\u00efve", " \u4e2d\u6587", "\u0665\u00bd", " \u2014", "\u00a0", "x"}));
}

TEST(Utf8, GivesTheCodePointsAndRefusesTheRest) {
  const std::string all = "a\u00e9\u20ac\U0001f600";
  EXPECT_EQ(code_point_at(all, 1).value, 0xe9U);
  EXPECT_EQ(code_point_at(all, 3).value, 0x20acU);
  EXPECT_EQ(code_point_at(all, 6).value, 0x1f600U);
  std::string again;
  for (const char32_t value : {0x61, 0xe9, 0x20ac, 0x1f600}) append_utf8(again, value);
  EXPECT_EQ(again, all);
  EXPECT_EQ(valid_utf8_prefix(all), all.size());
  for (const char* wrong : {"\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                            "\xf8\x88\x80\x80\x80", "\xe2\x82", "\xff"}) {
    EXPECT_EQ(valid_utf8_prefix(std::string("ok") + wrong), 2U) << wrong;
  }
}

TEST(PrintableBytes, GoThereAndBack) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  EXPECT_EQ(from_printable(printable(all), "x"), all);
  EXPECT_EQ(printable(" \n!"), "\u0120\u010a!");
  EXPECT_THROW(from_printable(" ", "x"), Error);
}

class ASmallBpe : public ::testing::Test {
 protected:
  Scratch scratch_;
  std::string folder_ = write_small_bpe(scratch_);
};

TEST_F(ASmallBpe, MergesInOrder) {
  const Bpe bpe = Bpe::open(folder_);
  EXPECT_EQ(bpe.size(), 256U + 6 + 1);
  EXPECT_EQ(bpe.encode("hello"), (std::vector<std::uint32_t>{259}));
  EXPECT_EQ(bpe.encode("hell"), (std::vector<std::uint32_t>{258}));
  EXPECT_EQ(bpe.encode("lll wow"), (std::vector<std::uint32_t>{257, 'l', 261, 'w'}));
  EXPECT_EQ(bpe.encode(""), (std::vector<std::uint32_t>{}));
}

TEST_F(ASmallBpe, GivesBackAnyText) {
  const Bpe bpe = Bpe::open(folder_);
  const std::string text = "hello wo\u00efrld\n\n  \u4e2d <|endoftext|>";
  const auto ids = bpe.encode(text);
  EXPECT_EQ(bpe.decode(std::vector<std::int64_t>(ids.begin(), ids.end())), text);
  EXPECT_EQ(bpe.decode(std::vector<std::int64_t>{262}), "<|endoftext|>");
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 262U), 0);
  EXPECT_THROW(bpe.decode(std::vector<std::int64_t>{263}), Error);
  EXPECT_THROW(bpe.decode(std::vector<std::int64_t>{-1}), Error);
}

TEST_F(ASmallBpe, TakesLongWordsInItsStride) {
  const Bpe bpe = Bpe::open(folder_);
  EXPECT_EQ(bpe.encode(std::string(300001, 'l')).size(), 150001U);
}

TEST_F(ASmallBpe, RefusesTextThatIsNotUtf8) {
  expect_error([&] { Bpe::open(folder_).encode("ab\xff"); }, {"0xff", "offset 2"});
}

TEST_F(ASmallBpe, GivesTheFactsAboutItsFiles) {
  std::vector<FileFact> files;
  Bpe::open(folder_, &files);
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[1].bytes, merges_text(kSmallMerges).size());
}

TEST_F(ASmallBpe, WithADamagedEncoderIsRefused) {
  const auto refused = [&](const std::string& from, const std::string& to,
                           const std::string& word) {
    std::string text = encoder_text(kSmallMerges);
    text.replace(text.find(from), from.size(), to);
    scratch_.write("bpe/encoder.json", text);
    expect_error([&] { Bpe::open(folder_); }, {word});
  };
  refused("\"hello\": 259", "\"hello\": 300", "300");
  refused("\"hello\": 259", "\"hello\": 258", "258 again");
  refused("\"hello\": 259", "\"hello\": -1", "-1");
  refused("\"hello\": 259", "\"hello\": 1.5", "1.5");
  refused("\"hello\": 259", "\"hallo\": 259", "'hello'");
  refused("\"a\": 97", "\"aa\": 97", "0x61");
  refused("\"a\": 97", "\"\": 97", "empty");
  refused("\"hello\": 259", "\"hel\u4e2do\": 259", "stand for bytes");
  refused("{", "[", "JSON");
  scratch_.write("bpe/encoder.json", "[1]");
  expect_error([&] { Bpe::open(folder_); }, {"object", "encoder.json"});
  scratch_.write("bpe/encoder.json", "{}");
  expect_error([&] { Bpe::open(folder_); }, {"encoder.json"});
}

TEST_F(ASmallBpe, WithDamagedMergesIsRefused) {
  const auto refused = [&](Words merges, const std::string& word) {
    scratch_.write("bpe/vocab.bpe", merges_text(merges));
    expect_error([&] { Bpe::open(folder_); }, {word});
  };
  refused({"h e", "hell"}, "line 3");
  refused({"h e l"}, "line 2");
  refused({"", "h e"}, "line 2");
  refused({"h e", "h e"}, "again");
  refused({"he ll", "h e", "l l"}, "earlier");
  refused({"x y"}, "'xy'");
  refused({"h zz"}, "'zz'");
}

TEST(ABpeFolder, WithoutItsFilesIsNamed) {
  const Scratch scratch;
  expect_error([&] { Bpe::open(scratch.path()); }, {"encoder.json"});
}

}  // namespace
}  // namespace bcos::lab::data
