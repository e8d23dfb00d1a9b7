#include "lab/data/corpus.hpp"

#include "lab/data/header_corpus.hpp"
#include "tests/lab/data/small_bpe.hpp"

namespace bcos::lab::data {
namespace {

std::vector<std::int64_t> all_of(const Tokens& tokens) {
  std::vector<std::int64_t> ids(tokens.size());
  tokens.read(0, ids);
  return ids;
}

std::string text_of(const TextData& data, const Tokens& tokens) {
  return data.vocabulary.decode(all_of(tokens));
}

TEST(ATextFile, IsSplitByBytes) {
  const Scratch scratch;
  const auto path = scratch.write("t.txt", "0123456789abcdefghi\xff");
  const TextData data = open_text({.data = path});
  EXPECT_EQ(data.vocabulary.kind(), Vocabulary::Kind::bytes);
  EXPECT_EQ(text_of(data, *data.train), "0123456789abcdefgh");
  EXPECT_EQ(text_of(data, *data.val), "i\xff");
  ASSERT_EQ(data.files.size(), 1U);
  EXPECT_EQ(data.files[0].bytes, 20U);
  EXPECT_NE(data.described.find("18 + 2"), std::string::npos) << data.described;
}

TEST(ATextFile, OfCharactersIsNotSplitInsideOne) {
  const Scratch scratch;
  const auto path = scratch.write("t.txt", "abc\u20acde");
  const TextData data = open_text({.data = path, .format = "chars", .val_fraction = 0.4});
  EXPECT_EQ(text_of(data, *data.train), "abc");
  EXPECT_EQ(text_of(data, *data.val), "\u20acde");
  EXPECT_EQ(data.vocabulary.size(), 6U);
}

TEST(ATextFile, MayHaveAnotherForValidation) {
  const Scratch scratch;
  const TextData data = open_text({.data = scratch.write("a.txt", "aab"),
                                   .val = scratch.write("b.txt", "cd"),
                                   .format = "chars"});
  EXPECT_EQ(text_of(data, *data.val), "cd");
  EXPECT_EQ(data.vocabulary.size(), 4U);
  EXPECT_EQ(data.files.size(), 2U);
}

TEST(ATextFile, MayBeReadByBpe) {
  const Scratch scratch;
  const auto path = scratch.write("t.txt", "hello hello hello hello");
  const TextData data =
      open_text({.data = path, .bpe = write_small_bpe(scratch), .val_fraction = 0.5});
  EXPECT_EQ(data.vocabulary.kind(), Vocabulary::Kind::bpe);
  EXPECT_EQ(all_of(*data.train), (std::vector<std::int64_t>{259, ' ', 259}));
  EXPECT_EQ(data.files.size(), 3U);
}

TEST(ATextFile, ThatIsNotUtf8IsRefusedForCharacters) {
  const Scratch scratch;
  const auto path = scratch.write("latin.txt", "caf\xe9 au lait, s'il vous pla\xeet");
  expect_error([&] { open_text({.data = path, .format = "chars"}); },
               {"offset 3", "0xe9", "latin.txt"});
}

TEST(ATextFile, ThatIsPackedIsRefusedWithAdvice) {
  const Scratch scratch;
  const auto xz = scratch.write("t.txt.xz", std::string("\xfd\x37zXZ\0more", 10));
  expect_error([&] { open_text({.data = xz}); }, {"xz", "unpack", "t.txt.xz"});
  const auto gz = scratch.write("t.txt.gz", "\x1f\x8bmore");
  expect_error([&] { open_text({.data = gz}); }, {"gzip", "unpack"});
}

TEST(ATextFile, WithTooLittleOrNothingIsRefused) {
  const Scratch scratch;
  expect_error([&] { open_text({.data = scratch.write("e.txt", "")}); }, {"e.txt"});
  expect_error([&] { open_text({.data = scratch.write("f.txt", "a")}); }, {"f.txt"});
  expect_error([&] { open_text({.data = scratch.path("none.txt")}); }, {"none.txt"});
  expect_error([&] { open_text({.data = scratch.path()}); }, {"train.bin"});
}

TEST(TextOptions, OutsideTheirBoundsAreRefused) {
  const Scratch scratch;
  const auto path = scratch.write("t.txt", "some text");
  EXPECT_THROW(open_text({.data = path, .format = "words"}), Error);
  EXPECT_THROW(open_text({.data = path, .format = "bpe"}), Error);
  EXPECT_THROW(open_text({.data = path, .val_fraction = 0}), Error);
  EXPECT_THROW(open_text({.data = path, .val_fraction = 1}), Error);
  EXPECT_THROW(open_text({.data = ""}), Error);
}

TEST(TokenData, IsSplitOrComesWithAFolder) {
  const Scratch scratch;
  const std::vector<std::uint16_t> ids = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto train = scratch.write("f/train.bin", little_endian(ids));
  scratch.write("f/val.bin", little_endian(std::vector<std::uint16_t>{77}));
  const TextData split = open_text({.data = train, .vocab_size = 10});
  EXPECT_EQ(split.train->size(), 9U);
  EXPECT_EQ(all_of(*split.val), (std::vector<std::int64_t>{9}));
  EXPECT_EQ(split.vocabulary.size(), 10U);
  const TextData folder = open_text({.data = scratch.path("f")});
  EXPECT_EQ(folder.train->size(), 10U);
  EXPECT_EQ(all_of(*folder.val), (std::vector<std::int64_t>{77}));
  EXPECT_EQ(folder.vocabulary.size(), 50257U);
  EXPECT_EQ(folder.files.size(), 2U);
  expect_error([&] { open_text({.data = scratch.path("f"), .vocab_size = 77}); },
               {"77", "val.bin", "vocabulary"});
}

TEST(Headers, AreSortedAndEveryTenthIsHeldOut) {
  const Scratch scratch;
  for (char c = 'z'; c >= 'o'; --c) scratch.write(std::string("h/") + c, std::string(1, c));
  scratch.write("h/b/one", "1");
  const HeaderCorpus corpus = read_headers(scratch.path("h"));
  EXPECT_EQ(corpus.train, "1opqrstuvxyz");
  EXPECT_EQ(corpus.val, "w");
  EXPECT_EQ(corpus.files, 13U);
  EXPECT_THROW(read_headers(scratch.path("h/b")), Error);
  EXPECT_THROW(read_headers(scratch.path("none")), Error);
}

TEST(Headers, AreFoundInWhatACompilerSays) {
  const Scratch scratch;
  scratch.write("first/other", "");
  scratch.write("second/vector", "");
  scratch.write("third/vector", "");
  const std::string said =
      "ignoring \"/x\"\n#include \"...\" search starts here:\n"
      "#include <...> search starts here:\n " +
      scratch.path("first") + "\n " + scratch.path("first/../second") + "\n";
  EXPECT_EQ(header_folder_in(said + "End of search list.\n"), scratch.path("second"));
  EXPECT_EQ(header_folder_in("gibberish\n " + scratch.path("second") + "\n"), "");
  EXPECT_EQ(header_folder_in("#include <...> search starts here:\nEnd of search list.\n " +
                             scratch.path("third") + "\n"),
            "");
}

TEST(Headers, OfThisMachineAreTheDefaultText) {
  const TextData data = open_text({});
  EXPECT_EQ(data.vocabulary.kind(), Vocabulary::Kind::ascii);
  EXPECT_GT(data.train->size(), 1000000U);
  EXPECT_GT(data.val->size(), 10000U);
  EXPECT_LT(data.train->largest(), 128U);
}

}  // namespace
}  // namespace bcos::lab::data
