#include "lab/run/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bcos/error.hpp"

namespace bcos::lab::run {
namespace {

Metrics parse(std::string_view text) { return parse_metrics(text, "metrics.jsonl"); }

std::string message_of(std::string_view text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::corrupt);
    return error.what();
  }
  return "nothing thrown";
}

TEST(AMetricsFile, GivesTheNumbersOfAStep) {
  const Metrics metrics = parse(
      R"({"s":12,"trl":4.1,"lr":6e-4,"norm":0.9,"clipped":true,"skipped":2,"ms":33.1,"opt_ms":0.2,"rate":61800.0})");
  ASSERT_EQ(metrics.train.size(), 1U);
  const TrainPoint& point = metrics.train[0];
  EXPECT_EQ(point.step, 12);
  EXPECT_EQ(point.loss, 4.1);
  EXPECT_EQ(point.lr, 6e-4);
  EXPECT_EQ(point.norm, 0.9);
  EXPECT_TRUE(point.clipped);
  EXPECT_EQ(point.skipped, 2);
  EXPECT_EQ(point.ms, 33.1);
  EXPECT_EQ(point.opt_ms, 0.2);
  EXPECT_EQ(point.rate, 61800.0);
  EXPECT_TRUE(metrics.eval.empty());
}

TEST(AMetricsFile, GivesTheNumbersOfAnEvaluation) {
  const Metrics metrics = parse("{\"s\":100,\"tel\":2.51,\"acc\":0.41}\n{\"s\":200,\"tel\":2.4}\n");
  ASSERT_EQ(metrics.eval.size(), 2U);
  EXPECT_EQ(metrics.eval[0].step, 100);
  EXPECT_EQ(metrics.eval[0].loss, 2.51);
  EXPECT_EQ(metrics.eval[0].accuracy, 0.41);
  EXPECT_TRUE(std::isnan(metrics.eval[1].accuracy));
  EXPECT_TRUE(metrics.train.empty());
}

TEST(AMetricsFile, HasNoNumberWhereALineHasNullOrNothing) {
  const Metrics metrics = parse("{\"s\":1,\"trl\":null,\"norm\":null}\n");
  ASSERT_EQ(metrics.train.size(), 1U);
  EXPECT_TRUE(std::isnan(metrics.train[0].loss));
  EXPECT_TRUE(std::isnan(metrics.train[0].norm));
  EXPECT_TRUE(std::isnan(metrics.train[0].ms));
}

TEST(AMetricsFile, IsSortedAndTheLastLineOfAStepWins) {
  const Metrics metrics = parse(
      "{\"s\":1,\"trl\":5}\n{\"s\":2,\"trl\":4}\n{\"s\":2,\"tel\":9}\n{\"s\":3,\"trl\":3}\n"
      "{\"s\":2,\"trl\":4.5}\n{\"s\":2,\"tel\":8}\n{\"s\":3,\"trl\":3.5}\n");
  ASSERT_EQ(metrics.train.size(), 3U);
  EXPECT_EQ(metrics.train[0].loss, 5);
  EXPECT_EQ(metrics.train[1].loss, 4.5);
  EXPECT_EQ(metrics.train[2].loss, 3.5);
  ASSERT_EQ(metrics.eval.size(), 1U);
  EXPECT_EQ(metrics.eval[0].loss, 8);
}

TEST(AMetricsFile, MayHoldUnknownKeysKindsAndEmptyLines) {
  const Metrics metrics = parse(
      "{\"event\":\"resumed\"}\r\n\n{\"s\":1,\"trl\":5,\"temperature\":[1,2]}\r\n{\"s\":7}\n");
  EXPECT_EQ(metrics.train.size(), 1U);
  EXPECT_TRUE(metrics.eval.empty());
}

TEST(AMetricsFile, GivesWhatADiagnosisFound) {
  const Metrics metrics = parse(
      "{\"s\":20,\"kind\":\"aiming\",\"group\":\"all\",\"cos_g\":0.5,\"cos_m\":null}\n"
      "{\"s\":10,\"kind\":\"aiming\",\"group\":\"mlp\",\"cos_g\":0.25}\n"
      "{\"s\":20,\"kind\":\"signal\",\"group\":\"all\",\"rho\":0.125}\n");
  ASSERT_EQ(metrics.diagnosis.size(), 3U);
  EXPECT_EQ(metrics.diagnosis[0].group, "mlp");
  const DiagnosisPoint& point = metrics.diagnosis[1];
  EXPECT_EQ(point.step, 20);
  EXPECT_EQ(point.kind, "aiming");
  EXPECT_EQ(point.values, (std::map<std::string, double>{{"cos_g", 0.5}}));
  EXPECT_TRUE(metrics.train.empty());
  EXPECT_TRUE(metrics.eval.empty());
}

TEST(AMetricsFile, AddsWhatADiagnosisFoundLater) {
  const Metrics metrics = parse(
      "{\"s\":5,\"kind\":\"aiming\",\"group\":\"all\",\"cos_g\":0.5,\"cos_m\":0.75}\n"
      "{\"s\":5,\"kind\":\"aiming\",\"group\":\"all\",\"cos_g\":0.25}\n"
      "{\"s\":5,\"kind\":\"aiming\",\"group\":\"all\",\"null_g\":0.125}\n");
  ASSERT_EQ(metrics.diagnosis.size(), 1U);
  EXPECT_EQ(metrics.diagnosis[0].values,
            (std::map<std::string, double>{{"cos_g", 0.25}, {"cos_m", 0.75}, {"null_g", 0.125}}));
}

TEST(AMetricsFile, MayBeEmpty) {
  EXPECT_TRUE(parse("").train.empty());
  EXPECT_TRUE(parse("\n").eval.empty());
}

/// A run that trains may just be writing it.
TEST(AMetricsFile, CutAnywhereInItsLastLineGivesTheLinesBefore) {
  const std::string first = "{\"s\":1,\"trl\":5}\n";
  const std::string last = "{\"s\":2,\"trl\":4.25}";
  for (std::size_t length = 0; length < last.size(); ++length) {
    const Metrics metrics = parse(first + last.substr(0, length));
    EXPECT_EQ(metrics.train.size(), 1U) << length;
    EXPECT_EQ(metrics.cut_lines, 0);
  }
  EXPECT_EQ(parse(first + last).train.size(), 2U);
}

TEST(AMetricsFile, CutInTheMiddleLosesThoseLinesAndCountsThem) {
  const Metrics metrics = parse(
      "{\"s\":1,\"trl\":5}\n{\"s\":2,\"trl\":\n{\"s\":3,\"trl\":4}\n{\"s\":4\n{\"s\":5,\"trl\":3}"
      "\n");
  EXPECT_EQ(metrics.train.size(), 3U);
  EXPECT_EQ(metrics.train.back().step, 5);
  EXPECT_EQ(metrics.cut_lines, 2);
}

TEST(AMetricsFile, WithLinesThatAreNoneOfOursCountsThem) {
  for (const std::string& line :
       {std::string("[1]"), std::string("{\"trl\":5}"), std::string("{\"s\":-1,\"trl\":5}"),
        std::string("{\"s\":1.5,\"trl\":5}"), std::string("{\"s\":\"1\",\"trl\":5}"),
        std::string("{\"s\":18446744073709551615,\"trl\":5}"),
        std::string("{\"s\":1,\"trl\":\"low\"}"), std::string(4, '\0'), std::string(100000, '[')}) {
    const Metrics metrics = parse(line + "\n{\"s\":7,\"trl\":5}\n");
    EXPECT_EQ(metrics.cut_lines, 1) << line.substr(0, 40);
    EXPECT_EQ(metrics.train.size(), 1U);
  }
}

TEST(AMetricsFile, WithALineBeyondReasonIsRefused) {
  const std::string message = message_of(std::string((std::size_t{64} << 20) + 1, 'x') + "\n");
  EXPECT_NE(message.find("at most 64 MB in 'metrics.jsonl'"), std::string::npos) << message;
}

TEST(AMetricsFile, ThatIsMissingIsNamed) {
  try {
    read_metrics("/nowhere/metrics.jsonl");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find("/nowhere/metrics.jsonl"), std::string::npos);
  }
}

}  // namespace
}  // namespace bcos::lab::run
