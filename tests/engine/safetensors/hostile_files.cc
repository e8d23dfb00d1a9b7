#include "tests/engine/safetensors/hostile_files.hpp"

#include <fmt/format.h>

#include "tests/engine/safetensors/support.hpp"

namespace bcos::safetensors {

std::string repeat(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

std::string named(const std::string& name) {
  return file_bytes("{" + name + R"(:{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4);
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return file_bytes(
      R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}",
      4);
}

std::string two(int a0, int a1, int b0, int b1) {
  const auto one = [](const char* name, int begin, int end) {
    return fmt::format(R"("{}":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}})", name,
                       end - begin, begin, end);
  };
  return file_bytes(fmt::format("{{{},{}}}", one("a", a0, a1), one("b", b0, b1)), 8);
}

namespace {

std::string length_only(std::uint64_t length, const std::string& rest) {
  return length_bytes(length) + rest;
}

/// A file with this after the header's own digits; those are right.
std::string checked(const std::string& rest, std::size_t data_bytes = 4) {
  std::string header = std::string(kOpening) + std::string(kBlankDigits) + rest;
  header.replace(kOpening.size(), kBlankDigits.size(), header_digits(header));
  return file_bytes(header, data_bytes);
}

std::vector<Row> lengths() {
  return {
      {"empty file", "", "at least 10 bytes"},
      {"seven bytes", "1234567", "at least 10 bytes"},
      {"length alone", length_only(2, ""), "at least 10 bytes"},
      {"length 0", length_only(0, "{}"), "received 0"},
      {"length 1", length_only(1, "{}"), "received 1"},
      {"length one more than the file", length_only(3, "{}"), "received 3"},
      {"length of the whole file", length_only(10, "{}"), "received 10"},
      {"length 100 million and 1", length_only(100'000'001, "{}"), "header length"},
      {"length 2^31", length_only(std::uint64_t{1} << 31, "{}"), "header length"},
      {"length 2^63", length_only(std::uint64_t{1} << 63, "{}"), "header length"},
      {"length 2^64 - 1", length_only(~std::uint64_t{0}, "{}"), "header length"},
      {"length 2^64 - 8", length_only(~std::uint64_t{7}, "{}"), "header length"},
      {"big-endian length", std::string("\0\0\0\0\0\0\0\2{}", 10), "header length"},
      {"trailing bytes", file_bytes("{}", 1), "expected 0 bytes of data"},
  };
}

std::vector<Row> syntax() {
  return {
      {"white space alone", file_bytes("    "), "white space"},
      {"not JSON", file_bytes("hello"), "JSON object"},
      {"array", file_bytes("[]"), "JSON object"},
      {"string", file_bytes("\"{}\""), "JSON object"},
      {"null", file_bytes("null"), "JSON object"},
      {"number", file_bytes("12"), "JSON object"},
      {"open object", file_bytes("{ "), "JSON in UTF-8"},
      {"two objects", file_bytes("{}{}"), "JSON in UTF-8"},
      {"text behind the object", file_bytes("{} x"), "JSON in UTF-8"},
      {"NUL behind the object", file_bytes(std::string("{}\0\0", 4)), "NUL"},
      {"NUL before the object", file_bytes(std::string("\0{}", 3)), "JSON object"},
      {"byte order mark", file_bytes("\xef\xbb\xbf{}"), "JSON object"},
      {"vertical tab", file_bytes("\v{}"), "JSON object"},
      {"UTF-16", file_bytes(std::string("{\0}\0", 4)), "NUL"},
      {"comment", file_bytes("{/* */}"), "JSON in UTF-8"},
      {"trailing comma", file_bytes(std::string("{") + kTensor + ",}", 4), "JSON in UTF-8"},
      {"single quotes", named("'a'"), "JSON in UTF-8"},
      {"deep nesting of arrays", file_bytes("{\"a\":" + repeat("[", 10'000)), "an array"},
      {"deep nesting of objects", file_bytes("{\"a\":" + repeat("{\"dtype\":", 10'000)),
       "an object"},
      {"deep nesting in a shape", entry("\"F32\"", repeat("[", 10'000), "[0,4]"), "an array"},
      {"deep nesting at the top", file_bytes(repeat("[", 10'000)), "JSON object"},
  };
}

std::vector<Row> names() {
  return {
      {"empty name", named("\"\""), "an empty name"},
      {"name of 4097 bytes", named("\"" + std::string(4097, 'n') + "\""), "more than 4096"},
      {"name of 1 MB", named("\"" + std::string(1'000'000, 'n') + "\""), "more than 4096"},
      {"NUL in a name", named("\"a\\u0000b\""), "control character"},
      {"escape in a name", named("\"a\\u001b[2J\""), "control character"},
      {"line end in a name", named("\"a\\nb\""), "control character"},
      {"DEL in a name", named("\"a\x7f\""), "control character"},
      {"C1 control in a name", named("\"a\\u009b\""), "control character"},
      {"raw control in a name", named("\"a\x01\""), "JSON in UTF-8"},
      {"name that climbs", named("\"../x\""), "'..'"},
      {"name that climbs later", named("\"a/b/../../../x\""), "'..'"},
      {"name that ends climbing", named("\"a/..\""), "'..'"},
      {"name ..", named("\"..\""), "'..'"},
      {"name that climbs backwards", named(R"("a\\..\\x")"), "'..'"},
      {"absolute name", named("\"/etc/passwd\""), "absolute"},
      {"absolute name backwards", named(R"("\\\\host\\x")"), "absolute"},
      {"name not in UTF-8", named("\"a\xff\""), "JSON in UTF-8"},
      {"overlong UTF-8", named("\"a\xc0\xaf\""), "JSON in UTF-8"},
      {"surrogate in UTF-8", named("\"a\xed\xa0\x80\""), "JSON in UTF-8"},
      {"lone surrogate escape", named("\"a\\ud800\""), "JSON in UTF-8"},
      {"same name twice",
       file_bytes(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                  R"("a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
                  4),
       "twice"},
      {"same name twice by escapes",
       file_bytes(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)"
                  R"("\u0061":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})"),
       "twice"},
  };
}

std::vector<Row> entries() {
  return {
      {"tensor is null", file_bytes("{\"a\":null}"), "an object as tensor"},
      {"tensor is a string", file_bytes("{\"a\":\"b\"}"), "an object as tensor"},
      {"tensor is a number", file_bytes("{\"a\":-1}"), "an object as tensor"},
      {"tensor is true", file_bytes("{\"a\":true}"), "an object as tensor"},
      {"tensor is an array", file_bytes("{\"a\":[]}"), "an object as tensor"},
      {"tensor is empty", file_bytes("{\"a\":{}}"), "no dtype"},
      {"no shape", file_bytes(R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", 1), "no shape"},
      {"no offsets", file_bytes(R"({"a":{"dtype":"U8","shape":[1]}})", 1), "no data_offsets"},
      {"unknown key",
       file_bytes(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"strides":[1]}})", 1),
       "strides"},
      {"dtype twice",
       file_bytes(R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1),
       "dtype of tensor"},
      {"shape twice",
       file_bytes(R"({"a":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}})", 1),
       "shape of tensor"},
      {"offsets twice",
       file_bytes(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"data_offsets":[0,1]}})",
                  1),
       "data_offsets of tensor"},
      {"unknown dtype", entry("\"F33\"", "[1]", "[0,4]"), "F33"},
      {"dtype in lower case", entry("\"f32\"", "[1]", "[0,4]"), "f32"},
      {"empty dtype", entry("\"\"", "[1]", "[0,4]"), "dtype"},
      {"dtype is a number", entry("32", "[1]", "[0,4]"), "dtype"},
      {"dtype is an array", entry("[]", "[1]", "[0,4]"), "dtype"},
      {"dtype is an object", entry("{}", "[1]", "[0,4]"), "dtype"},
      {"shape is a number", entry("\"F32\"", "1", "[0,4]"), "an array as shape"},
      {"shape is an object", entry("\"F32\"", "{}", "[0,4]"), "an array as shape"},
      {"shape is null", entry("\"F32\"", "null", "[0,4]"), "an array as shape"},
      {"offsets are a string", entry("\"F32\"", "[1]", "\"0,4\""), "an array as data_offsets"},
      {"shape of strings", entry("\"F32\"", "[\"1\"]", "[0,4]"), "whole numbers"},
      {"shape of bools", entry("\"F32\"", "[true]", "[0,4]"), "whole numbers"},
      {"shape of arrays", entry("\"F32\"", "[[1]]", "[0,4]"), "whole numbers"},
      {"shape of objects", entry("\"F32\"", "[{}]", "[0,4]"), "whole numbers"},
      {"negative size", entry("\"F32\"", "[-1]", "[0,4]"), "received -1"},
      {"two negative sizes", entry("\"F32\"", "[-1,-1]", "[0,4]"), "received -1"},
      {"size -0", entry("\"F32\"", "[-0]", "[0,0]"), "received 0"},
      {"size 1.0", entry("\"F32\"", "[1.0]", "[0,4]"), "1.0"},
      {"size 1e0", entry("\"F32\"", "[1e0]", "[0,4]"), "1e0"},
      {"size 1e3", entry("\"F32\"", "[1e3]", "[0,4000]"), "1e3"},
      {"size 1e999", entry("\"F32\"", "[1e999]", "[0,4]"), "1e999"},
      {"size 01", entry("\"F32\"", "[01]", "[0,4]"), "JSON in UTF-8"},
      {"size 2^63", entry("\"F32\"", "[9223372036854775808,0]", "[0,0]"), "below 2^63"},
      {"size 2^64", entry("\"F32\"", "[18446744073709551616]", "[0,4]"), "below 2^63"},
      {"rank 65", entry("\"F32\"", "[1" + repeat(",1", 64) + "]", "[0,4]"), "more than 64"},
      {"product 2^64", entry("\"U8\"", "[4294967296,4294967296]", "[0,0]"), "fit 64 bits"},
      {"product 2^64 + 4", entry("\"F32\"", "[4611686018427387905]", "[0,4]"), "fit 64 bits"},
      {"product overflows before 0",
       entry("\"F32\"", "[4611686018427387904,4611686018427387904,0]", "[0,0]"), "fit 64 bits"},
  };
}

std::vector<Row> offsets() {
  return {
      {"shape asks for more", entry("\"F32\"", "[2]", "[0,4]"), "expected 8 bytes"},
      {"shape asks for less", entry("\"U8\"", "[1]", "[0,4]"), "expected 1 bytes"},
      {"shape of a scalar", entry("\"U8\"", "[]", "[0,4]"), "expected 1 bytes"},
      {"size 0 with data", entry("\"F32\"", "[0]", "[0,4]"), "expected 0 bytes"},
      {"no offsets in the list", entry("\"F32\"", "[1]", "[]"), "0 offsets"},
      {"one offset", entry("\"F32\"", "[1]", "[4]"), "1 offsets"},
      {"three offsets", entry("\"F32\"", "[1]", "[0,4,4]"), "more than 2 offsets"},
      {"negative offset", entry("\"F32\"", "[1]", "[-4,0]"), "received -4"},
      {"offset 4.0", entry("\"F32\"", "[1]", "[0,4.0]"), "4.0"},
      {"offset 2^63", entry("\"F32\"", "[1]", "[0,9223372036854775808]"), "below 2^63"},
      {"offset as text", entry("\"F32\"", "[1]", "[\"0\",\"4\"]"), "whole numbers"},
      {"offsets reversed", entry("\"F32\"", "[1]", "[4,0]"), "in order"},
      {"offsets past the end", entry("\"F32\"", "[2]", "[0,8]"), "expected 8 bytes of data"},
      {"offsets far past the end",
       entry("\"U8\"", "[9223372036854775807]", "[0,9223372036854775807]"), "bytes of data"},
      {"not from 0", entry("\"U8\"", "[3]", "[1,4]"), "at byte 0"},
      {"data left over", entry("\"U8\"", "[3]", "[0,3]"), "expected 3 bytes of data"},
      {"empty tensor past the end", entry("\"U8\"", "[0]", "[9,9]"), "at byte 0"},
      {"overlap", two(0, 5, 4, 8), "at byte 5"},
      {"overlap, other order", two(4, 8, 0, 5), "at byte 5"},
      {"same place twice", two(0, 8, 0, 8), "at byte 8"},
      {"one inside the other", two(0, 8, 2, 4), "at byte 8"},
      {"hole", two(0, 3, 4, 8), "at byte 3"},
      {"empty tensor inside another", two(0, 8, 4, 4), "at byte 8"},
      {"nothing for 8 bytes", file_bytes("{}", 8), "expected 0 bytes of data"},
  };
}

std::vector<Row> metadata() {
  return {
      {"metadata is null", file_bytes(R"({"__metadata__":null})"), "an object as __metadata__"},
      {"metadata is text", file_bytes(R"({"__metadata__":"x"})"), "an object as __metadata__"},
      {"metadata is a list", file_bytes(R"({"__metadata__":[]})"), "an object as __metadata__"},
      {"metadata of a number", file_bytes(R"({"__metadata__":{"k":1}})"), "a string as metadata"},
      {"metadata of null", file_bytes(R"({"__metadata__":{"k":null}})"), "a string as metadata"},
      {"metadata of lists", file_bytes(R"({"__metadata__":{"k":[]}})"), "a string as metadata"},
      {"metadata of objects", file_bytes(R"({"__metadata__":{"k":{}}})"), "a string as metadata"},
      {"metadata twice", file_bytes(R"({"__metadata__":{},"__metadata__":{}})"), "twice"},
      {"metadata key twice", file_bytes(R"({"__metadata__":{"k":"1","k":"2"}})"), "twice"},
      {"metadata not in UTF-8", file_bytes("{\"__metadata__\":{\"k\":\"\xff\"}}"), "JSON in UTF-8"},
      {"metadata like a tensor",
       file_bytes(R"({"__metadata__":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1),
       "a string as metadata"},
  };
}

std::vector<Row> checksums() {
  const std::string tensor = kTensor;
  const std::string good = R"(","crc32c.tensors":"1","crc32c:a":"01234567"},)";
  return {
      {"wrong header checksum",
       file_bytes(std::string(kOpening) + "00000000" + good + tensor + "}", 4), "header checksum"},
      {"header checksum not hexadecimal", file_bytes(R"({"__metadata__":{"crc32c":"0000000g"}})"),
       "header checksum"},
      {"header checksum not first", file_bytes(R"({"__metadata__":{"k":"","crc32c":"00000000"}})"),
       "to begin with"},
      {"header checksum of 7 digits", file_bytes(R"({"__metadata__":{"crc32c":"0000000"}})"),
       "to begin with"},
      {"tensor checksum alone", file_bytes(R"({"__metadata__":{"crc32c:a":"00000000"}})"),
       "to begin with"},
      {"count of checksums alone", file_bytes(R"({"__metadata__":{"crc32c.tensors":"0"}})"),
       "to begin with"},
      {"no count of checksums", checked(R"(","crc32c:a":"01234567"},)" + tensor + "}"),
       "checksum entries"},
      {"no tensor checksum", checked(R"(","crc32c.tensors":"1"},)" + tensor + "}"),
       "checksum entries"},
      {"wrong count", checked(R"(","crc32c.tensors":"2","crc32c:a":"01234567"},)" + tensor + "}"),
       "crc32c.tensors to be 1"},
      {"checksum of another tensor",
       checked(R"(","crc32c.tensors":"1","crc32c:b":"01234567"},)" + tensor + "}"),
       "checksum of tensor"},
      {"checksum of no tensor",
       checked(R"(","crc32c.tensors":"1","crc32c:a":"01234567","crc32c:b":"01234567"},)" + tensor +
               "}"),
       "checksum entries"},
      {"checksum twice",
       checked(R"(","crc32c.tensors":"1","crc32c:a":"01234567","crc32c:a":"01234567"},)" + tensor +
               "}"),
       "checksum entries"},
      {"header checksum twice",
       checked(R"(","crc32c":"01234567","crc32c:a":"01234567"},)" + tensor + "}"), "crc32c"},
      {"unknown reserved key",
       checked(R"(","crc32c.tensor":"1","crc32c:a":"01234567"},)" + tensor + "}"), "crc32c"},
      {"checksum in capitals",
       checked(R"(","crc32c.tensors":"1","crc32c:a":"0123456A"},)" + tensor + "}"),
       "hexadecimal digits"},
      {"checksum of 9 digits",
       checked(R"(","crc32c.tensors":"1","crc32c:a":"012345678"},)" + tensor + "}"),
       "hexadecimal digits"},
  };
}

}  // namespace

std::vector<Row> hostile_files() {
  std::vector<Row> rows;
  for (auto part : {lengths, syntax, names, entries, offsets, metadata, checksums}) {
    for (Row& row : part()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace bcos::safetensors
