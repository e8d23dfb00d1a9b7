#include "engine/strict_json.hpp"

#include <gtest/gtest.h>

#include "tests/engine/expect_error.hpp"

namespace bcos {
namespace {

std::string refusal(const std::string& text) {
  return testing::error_of([&] { parse_strict(text, "f", " in it"); });
}

std::string nested(int levels) {
  return std::string(static_cast<std::size_t>(levels), '[') +
         std::string(static_cast<std::size_t>(levels), ']');
}

TEST(StrictJson, RefusesAKeyTwiceInOneObjectAlone) {
  for (const char* good : {R"({"a":{"a":{"a":1}},"b":2})", R"([{"a":1},{"a":1}])",
                           R"({"a":[{"b":1},{"b":2}],"b":{"a":1}})"}) {
    EXPECT_NO_THROW(parse_strict(good, "f", "")) << good;
  }
  for (const char* bad : {R"({"a":1,"b":2,"a":1})", R"({"x":{"a":1,"a":2}})",
                          R"({"a":{"b":1},"a":2})", R"([{"a":{},"b":{"c":0,"c":0}}])"}) {
    EXPECT_NE(refusal(bad).find("[f] expected every key once in it but received \""),
              std::string::npos)
        << bad;
  }
}

TEST(StrictJson, HasABottom) {
  EXPECT_NO_THROW(parse_strict(nested(kDeepestJson), "f", ""));
  EXPECT_EQ(refusal(nested(100 * kDeepestJson)), "[f] expected at most 64 levels of JSON in it");
}

}  // namespace
}  // namespace bcos
