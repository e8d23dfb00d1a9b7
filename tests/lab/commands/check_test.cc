#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "bcos/methods.hpp"
#include "lab/commands/check/bits.hpp"
#include "lab/commands/check/golden.hpp"
#include "lab/trace/verdict.hpp"
#include "tests/engine/expect_error.hpp"

namespace bcos::lab::commands {
namespace {

using bcos::testing::error_of;

trace::Json one_case() {
  return trace::Json::parse(
      R"({"G": [[1.0]], "cases": [{"name": "tiny", "config": {"method": "sgd"},
    "x0": [1.0], "alpha": [0.25], "trace": [{"t": 0, "alpha": 0.25, "g": [1.0], "d": [1.0],
    "v": [1.0], "update": [0.25], "x": [0.75]}]}]})");
}

TEST(Golden, IsInsideTheProgram) {
  const trace::Json file = trace::Json::parse(golden_text());
  EXPECT_EQ(file, trace::Json::parse(std::ifstream(BCOS_GOLDEN_FILE)));
  EXPECT_EQ(file["cases"].size(), 250U);
}

TEST(Judge, PassesEveryGoldenCase) {
  const trace::Expected expected = trace::expected_of(trace::Json::parse(golden_text()));
  const trace::Verdict verdict = trace::judge(expected, Target::scalar, DType::f32);
  EXPECT_EQ(verdict.compared, 244U);  // the others do not fit float32
  EXPECT_TRUE(verdict.misses.empty());
  EXPECT_GT(verdict.worst.worst, 0);
  EXPECT_LE(verdict.worst.worst, 1);
  EXPECT_FALSE(verdict.worst.name.empty());
}

TEST(Judge, NamesTheCaseAndThePlaceOfAMiss) {
  trace::Json file = one_case();
  file["cases"][0]["trace"][0]["x"][0] = 0.8;
  const trace::Verdict verdict =
      trace::judge(trace::expected_of(file), default_target(), DType::f64);
  ASSERT_EQ(verdict.misses.size(), 1U);
  EXPECT_EQ(verdict.misses[0].name, "tiny");
  EXPECT_EQ(verdict.misses[0].where, "t = 0, x[0]");
  EXPECT_GT(verdict.misses[0].worst, 1e9);
}

TEST(ExpectedTraces, MustBeThere) {
  trace::Json file = one_case();
  file["cases"][0].erase("trace");
  EXPECT_EQ(error_of([&] { trace::expected_of(file); }),
            "[check] expected a trace to compare with in case 'tiny'");
  file["cases"].clear();
  EXPECT_EQ(error_of([&] { trace::expected_of(file); }),
            "[check] expected at least one case to compare");
}

TEST(ExpectedTraces, NameTheCaseWhoseTraceIsBroken) {
  trace::Json file = one_case();
  file["cases"][0]["trace"][0].erase("d");
  EXPECT_NE(error_of([&] { trace::expected_of(file); }).find("(case 'tiny')"), std::string::npos);
}

TEST(Bits, AreTheSameOnEveryTarget) {
  const auto lines = bits_lines(Target::scalar);
  for (const Target target : available_targets()) {
    EXPECT_EQ(bits_lines(target), lines) << name(target);
  }
}

TEST(Bits, AreTheSameOnOneThreadAndOnThree) {
  EXPECT_EQ(bits_lines(default_target(), {.threads = 1}),
            bits_lines(default_target(), {.threads = 3}));
}

TEST(Bits, HaveALineAMethodLayoutAndDtype) {
  const auto lines = bits_lines(default_target());
  // Every named method in six layouts, three rules and starts, three large ones in three layouts.
  EXPECT_EQ(lines.size(), ((named_methods().size() + 1) * 6 + 3 + 9) * 2);
  std::set<std::string> keys;
  for (const std::string& line : lines) {
    EXPECT_EQ(line.size() - line.rfind(' ') - 1, 8U) << line;
    keys.insert(line.substr(0, line.rfind(' ')));
  }
  EXPECT_EQ(keys.size(), lines.size());
  EXPECT_TRUE(keys.contains("bcosw_c row float32"));
  EXPECT_TRUE(keys.contains("bcosw_c@paper heads:37 float64"));
}

// Bits that change are a change of results: every program that resumes a run would see it.
TEST(Bits, AreThoseOfEarlierVersions) {
  const auto lines = bits_lines(default_target());
  const std::set<std::string> all(lines.begin(), lines.end());
  for (const char* line :
       {"bcosw_c coordinate float32 321988e0", "bcosw_c row float64 2f1dd180",
        "adamw column float32 95320a6e", "bcosw_c@paper lists float32 17c29c73"}) {
    EXPECT_TRUE(all.contains(line)) << line;
  }
}

}  // namespace
}  // namespace bcos::lab::commands
