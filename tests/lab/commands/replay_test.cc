#include <gtest/gtest.h>

#include <algorithm>

#include "lab/cli/files.hpp"
#include "lab/commands/check/golden.hpp"
#include "lab/commands/replay/trace_writer.hpp"
#include "tests/engine/expect_error.hpp"

namespace bcos::lab::commands {
namespace {

using bcos::testing::error_of;

trace::Json file_with(double alpha, double gradient) {
  trace::Json file = trace::Json::parse(R"({"note": "kept", "cases": [{"name": "tiny",
    "config": {"method": "sgd", "grads": "H"}, "x0": [1.0]}], "H": [[0.0]]})");
  file["alpha"] = {alpha};
  file["H"][0][0] = gradient;
  return file;
}

TEST(Replay, KeepsTheObjectAndAddsTraces) {
  const trace::Json given = file_with(0.25, 2.0);
  trace::Json received = replayed(given, {});
  EXPECT_EQ(received["cases"][0]["trace"][0]["x"], trace::Json({0.5}));
  received["cases"][0].erase("trace");
  EXPECT_EQ(received, given);
}

TEST(Replay, ReplacesTheTraceThatWasThere) {
  trace::Json given = file_with(0.25, 2.0);
  given["cases"][0]["trace"] = "nonsense";
  EXPECT_EQ(replayed(given, {})["cases"][0]["trace"].size(), 1U);
}

TEST(Replay, IgnoresNumbersOfAConfigThatItsMethodDoesNotRead) {
  const auto x_with = [](const char* config) {
    trace::Json given = file_with(0.25, 2.0);
    given["cases"][0]["config"] = trace::Json::parse(config);
    given["cases"][0]["config"]["grads"] = "H";
    return replayed(given, {})["cases"][0]["trace"][0]["x"];
  };
  EXPECT_EQ(x_with(R"({"beta_v": 0.5, "c": 7})"), x_with("{}"));
  EXPECT_EQ(x_with(R"({"beta_v": 0.5, "eps": 1.0})"), x_with(R"({"eps": 1.0, "eps_root": 0})"));
  EXPECT_EQ(x_with(R"({"beta_v": 0.5, "eps_root": 1.0})"),
            x_with(R"({"eps_root": 1.0, "eps": 0})"));
  EXPECT_EQ(x_with(R"({"method": "sgd", "beta_v": 0.5})"), trace::Json({0.5}));
  const char* two = R"({"estimator": "ema_d", "rule": "two_est", "beta": 0.5, "beta_v": 0.5})";
  EXPECT_EQ(x_with(R"({"estimator": "ema_d", "rule": "two_est", "beta": 0.5})"), x_with(two));
}

TEST(Replay, RefusesNumbersThatJsonCannotHold) {
  EXPECT_EQ(
      error_of([] { replayed(file_with(1e300, 1e300), {}); }),
      "[replay] expected finite numbers, which JSON can hold, in case 'tiny' but received inf "
      "at t = 0, update[0]");
}

TEST(Replay, NamesTheCaseThatTheEngineRefuses) {
  EXPECT_NE(error_of([] { replayed(file_with(-1, 1), {}); }).find("(case 'tiny')"),
            std::string::npos);
}

TEST(Replay, RefusesNamesThatAreNone) {
  trace::Json file = file_with(1, 1);
  file["cases"][0]["name"] = 7;
  EXPECT_NE(error_of([&] { replayed(file, {}); }).find("as a string but received 7"),
            std::string::npos);
}

TEST(TraceFileText, IsTheFileAgainWithALineACase) {
  const trace::Json golden = trace::Json::parse(golden_text());
  const std::string text = trace_file_text(golden);
  EXPECT_EQ(trace::Json::parse(text), golden);
  EXPECT_EQ(text.substr(0, 14), "{\n\"format\": 2,");
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
  EXPECT_EQ(lines, golden.size() + golden["cases"].size() + 3);
}

TEST(ParseJson, SaysWhereTheTextIsFrom) {
  const std::string broken = error_of([] { cli::parse_json("{", "a.json"); });
  EXPECT_TRUE(broken.starts_with("[read] expected JSON in 'a.json' but received:")) << broken;
}

TEST(ParseJson, RefusesWhatReadersWouldReadDifferently) {
  EXPECT_EQ(error_of([] {
              cli::parse_json(R"({"a": {"beta": 0.9}, "b": {"beta": 1, "beta": 2}})", "f");
            }),
            "[read] expected every key once in 'f' but received \"beta\" twice");
}

TEST(ParseJson, ShowsNoBytesThatATerminalWouldObey) {
  const std::string broken = error_of([] { cli::parse_json("\"\x1b[2J\xff\"", "a.json"); });
  EXPECT_TRUE(std::ranges::all_of(broken, [](char c) { return c >= ' ' && c <= '~'; })) << broken;
}

TEST(ParseJson, RefusesNestingThatWouldExhaustTheStack) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(error_of([&] { cli::parse_json(deep, "-"); }),
            "[read] expected at most 64 levels of JSON in standard input");
}

}  // namespace
}  // namespace bcos::lab::commands
