#include "lab/data/vocabulary.hpp"

#include "tests/lab/data/small_bpe.hpp"

namespace bcos::lab::data {
namespace {

using Ids = std::vector<std::uint32_t>;

std::string there_and_back(const Vocabulary& vocabulary, std::string_view text) {
  const Ids ids = vocabulary.encode(text);
  return vocabulary.decode(std::vector<std::int64_t>(ids.begin(), ids.end()));
}

Vocabulary characters_of(std::string_view text) {
  return Vocabulary::characters(std::span(&text, 1));
}

TEST(TheBytes, AreTheirOwnIds) {
  const Vocabulary bytes = Vocabulary::bytes();
  EXPECT_EQ(bytes.size(), 256U);
  EXPECT_EQ(bytes.encode("a\xff"), (Ids{97, 255}));
  EXPECT_EQ(there_and_back(bytes, "a\xff"), "a\xff");
  EXPECT_THROW(bytes.decode(std::vector<std::int64_t>{256}), Error);
}

TEST(Ascii, HasOneIdForAllOtherBytes) {
  const Vocabulary ascii = Vocabulary::ascii();
  EXPECT_EQ(ascii.size(), 128U);
  EXPECT_EQ(ascii.encode("a\x7f\x80\xff"), (Ids{97, 127, 127, 127}));
  EXPECT_THROW(ascii.decode(std::vector<std::int64_t>{128}), Error);
}

TEST(Characters, AreSortedByCodePoint) {
  const std::array<std::string_view, 2> texts = {"b\u00e9a", "\U0001f600b"};
  const Vocabulary vocabulary = Vocabulary::characters(texts);
  EXPECT_EQ(vocabulary.size(), 4U);
  EXPECT_EQ(vocabulary.encode("ab\u00e9\U0001f600"), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(there_and_back(vocabulary, "\u00e9\u00e9a"), "\u00e9\u00e9a");
}

TEST(Characters, OutsideTheTextAreRefusedWithTheirPlace) {
  expect_error([] { characters_of("abc").encode("ab\u00e9"); }, {"U+00E9", "offset 2", "3"});
}

TEST(Characters, RefuseTextThatIsNotUtf8WithItsPlace) {
  expect_error([] { characters_of("abc\xc3("); }, {"0xc3", "offset 3"});
}

TEST(TokenIds, AreOnlyNumbers) {
  const Vocabulary tokens = Vocabulary::tokens(1000);
  EXPECT_EQ(tokens.decode(std::vector<std::int64_t>{1, 999}), "1 999");
  EXPECT_THROW(tokens.encode("a"), Error);
  EXPECT_THROW(tokens.decode(std::vector<std::int64_t>{1000}), Error);
}

TEST(AVocabulary, ComesBackFromJson) {
  const Scratch scratch;
  const std::string text = "hello wo";
  for (const Vocabulary& vocabulary :
       {Vocabulary::bytes(), Vocabulary::ascii(), characters_of("hello wo\u00e9"),
        Vocabulary::bpe(Bpe::open(write_small_bpe(scratch)))}) {
    const Vocabulary back = Vocabulary::from_json(vocabulary.to_json());
    EXPECT_EQ(back.kind(), vocabulary.kind());
    EXPECT_EQ(back.size(), vocabulary.size());
    EXPECT_EQ(back.encode(text), vocabulary.encode(text)) << vocabulary.name();
    EXPECT_EQ(there_and_back(back, text), text);
  }
  const Vocabulary tokens = Vocabulary::from_json(Vocabulary::tokens(77).to_json());
  EXPECT_EQ(tokens.size(), 77U);
}

TEST(AVocabulary, FromDamagedJsonIsRefused) {
  for (const char* text :
       {"", "{}", "[]", "{\"kind\": \"bytes\"}", "{\"kind\": \"bytes\", \"size\": 255}",
        "{\"kind\": 3, \"size\": 1}", "{\"kind\": \"words\", \"size\": 1}",
        "{\"kind\": \"tokens\", \"size\": -1}", "{\"kind\": \"tokens\", \"size\": 99999999999}",
        "{\"kind\": \"chars\", \"size\": 2, \"characters\": \"a\"}",
        "{\"kind\": \"chars\", \"size\": 1, \"characters\": [1]}",
        "{\"kind\": \"bpe\", \"size\": 1, \"pieces\": [\"a\"], \"merges\": []}",
        "{\"kind\": \"bpe\", \"size\": 1, \"pieces\": [\"a\"], \"merges\": [[0]]}",
        "{\"kind\": \"bpe\", \"size\": 1, \"pieces\": [\"a\"], \"merges\": [[0, 7]]}"}) {
    EXPECT_THROW(Vocabulary::from_json(text), Error) << text;
  }
  EXPECT_THROW(Vocabulary::from_json(std::string(100000, '[')), Error);
}

}  // namespace
}  // namespace bcos::lab::data
