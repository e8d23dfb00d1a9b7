#include "lab/report/summary.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lab/report/text.hpp"
#include "lab/report/words.hpp"

namespace bcos::lab::report {
namespace {

run::RunRecord run_with(const std::string& method, const std::string& lr, int seed,
                        double final_loss) {
  run::RunRecord run;
  run.name = method + lr;
  run.settings = {{"lr", lr}};
  run.facts = {{"method", method}, {"seed", seed}, {"state_bytes", 444000}};
  run.metrics.eval = {{.step = 0, .loss = 5}, {.step = 10, .loss = final_loss}};
  return run;
}

TEST(ASummary, HasFinalAndBestValidationLoss) {
  run::RunRecord run = run_with("bcosw_c", "0.002", 1, 2.5);
  run.metrics.eval = {{.step = 0, .loss = 5},
                      {.step = 10, .loss = 2},
                      {.step = 20, .loss = run::kNoNumber},
                      {.step = 30, .loss = 2.25, .accuracy = 0.5}};
  const RunSummary summary = summarize(run);
  EXPECT_EQ(summary.method, "bcosw_c");
  EXPECT_EQ(summary.lr, 0.002);
  EXPECT_EQ(summary.seed, "1");
  EXPECT_EQ(summary.final_loss, 2.25);
  EXPECT_EQ(summary.final_step, 30);
  EXPECT_EQ(summary.best_loss, 2);
  EXPECT_EQ(summary.best_step, 10);
  EXPECT_EQ(summary.final_accuracy, 0.5);
  EXPECT_EQ(summary.state_bytes, 444000);
}

TEST(ASummary, HasItsBestLossFromWhenItWasFirstReached) {
  run::RunRecord run;
  run.metrics.eval = {{.step = 0, .loss = 5}, {.step = 10, .loss = 2}, {.step = 20, .loss = 2}};
  EXPECT_EQ(summarize(run).best_step, 10);
}

TEST(ASummary, LeavesTheFirstStepOutOfTheTimes) {
  run::RunRecord run = run_with("bcosw_c", "0.002", 1, 2.5);
  run.metrics.train = {{.step = 0, .ms = 1000, .opt_ms = 500},
                       {.step = 1, .ms = 30, .opt_ms = 1},
                       {.step = 2, .ms = 50, .opt_ms = 3}};
  const RunSummary summary = summarize(run);
  EXPECT_EQ(summary.ms, 40);
  EXPECT_EQ(summary.optimizer_share, 0.05);
}

TEST(ASummary, CountsLossesThatAreNotFinite) {
  run::RunRecord run = run_with("bcosw_c", "0.002", 1, 2.5);
  run.metrics.train = {{.step = 0, .loss = 3}, {.step = 1}, {.step = 2, .skipped = 1}};
  const RunSummary summary = summarize(run);
  EXPECT_EQ(summary.steps, 3);
  EXPECT_EQ(summary.not_finite, 2);
  EXPECT_EQ(summary.skipped, 1);
  EXPECT_EQ(summary.final_train_loss, 3);
}

TEST(ASummary, TakesTheLargestLearningRateWhereNoSettingSaysIt) {
  run::RunRecord run = run_with("bcosw_c", "", 1, 2.5);
  run.metrics.train = {{.step = 0, .lr = 0.1}, {.step = 1, .lr = 0.3}, {.step = 2, .lr = 0.2}};
  EXPECT_EQ(summarize(run).lr, 0.3);
  run.facts["lr"] = 0.25;
  EXPECT_EQ(summarize(run).lr, 0.25);
}

TEST(ASummary, OfAnEmptyRunHasNoNumbers) {
  const RunSummary summary = summarize(run::RunRecord{});
  EXPECT_EQ(summary.method, "unknown method");
  EXPECT_TRUE(std::isnan(summary.final_loss));
  EXPECT_TRUE(std::isnan(summary.lr));
  EXPECT_TRUE(std::isnan(summary.ms));
  EXPECT_EQ(summary.steps, 0);
}

// Losses 1 and 2 in turns: the median of 50 is 1.5 and the MAD 0.5, so the limit is 5.9478.
TEST(Spikes, AreAboveSixDeviationsOfTheFiftyBefore) {
  std::vector<double> losses;
  for (int i = 0; i < 50; ++i) losses.push_back(1 + i % 2);
  EXPECT_EQ(count_spikes(losses), 0);
  losses.push_back(5.9477);
  EXPECT_EQ(count_spikes(losses), 0);
  losses.back() = 5.9479;
  EXPECT_EQ(count_spikes(losses), 1);
  losses.erase(losses.begin());
  EXPECT_EQ(count_spikes(losses), 0) << "only 49 losses are before it";
}

TEST(Spikes, AreMeasuredAgainstFiniteLosses) {
  std::vector<double> losses;
  for (int i = 0; i < 100; ++i) losses.push_back(i % 2 == 0 ? run::kNoNumber : 1 + i % 4 / 2);
  losses.push_back(6);
  EXPECT_EQ(count_spikes(losses), 1);
}

TEST(Smoothing, IsCorrectedForItsStart) {
  const std::vector<double> values = {4, 2, run::kNoNumber, 2};
  const std::vector<double> result = smoothed(values, 0.5);
  ASSERT_EQ(result.size(), 4U);
  EXPECT_DOUBLE_EQ(result[0], 4);
  EXPECT_DOUBLE_EQ(result[1], (0.25 * 4 + 0.5 * 2) / 0.75);
  EXPECT_DOUBLE_EQ(result[2], result[1]);
  EXPECT_DOUBLE_EQ(result[3], (0.125 * 4 + 0.25 * 2 + 0.5 * 2) / 0.875);
  EXPECT_EQ(smoothed(values, 0)[1], 2);
}

TEST(ASpread, IsMeanAndDeviation) {
  const Spread three = spread_of(std::vector<double>{1, 2, 6});
  EXPECT_DOUBLE_EQ(three.mean, 3);
  EXPECT_DOUBLE_EQ(three.deviation, std::sqrt(7.0));
  const Spread one = spread_of(std::vector<double>{2});
  EXPECT_EQ(one.mean, 2);
  EXPECT_TRUE(std::isnan(one.deviation));
  EXPECT_TRUE(std::isnan(spread_of(std::vector<double>{1, run::kNoNumber}).mean));
  EXPECT_TRUE(std::isnan(spread_of({}).mean));
}

class AComparison : public ::testing::Test {
 protected:
  std::vector<run::RunRecord> runs_ = {
      run_with("bcosw_c", "0.004", 1, 1.5), run_with("adamw", "0.001", 1, 1.25),
      run_with("bcosw_c", "0.002", 1, 1.5), run_with("bcosw_c", "0.004", 2, 2.5),
      run_with("bcosw_c", "0.002", 2, 2)};
};

TEST_F(AComparison, GroupsRunsByMethodAndLearningRate) {
  const Comparison comparison = compare_runs(runs_);
  ASSERT_EQ(comparison.groups.size(), 3U);
  EXPECT_EQ(comparison.groups[0].method, "bcosw_c");
  EXPECT_EQ(comparison.groups[0].lr, 0.002);
  EXPECT_EQ(comparison.groups[0].runs, (std::vector<std::size_t>{2, 4}));
  EXPECT_EQ(comparison.groups[0].final_loss.mean, 1.75);
  EXPECT_DOUBLE_EQ(comparison.groups[0].final_loss.deviation, std::sqrt(0.125));
  EXPECT_EQ(comparison.groups[1].lr, 0.004);
  EXPECT_EQ(comparison.groups[1].final_loss.mean, 2);
  EXPECT_EQ(comparison.groups[2].method, "adamw");
}

TEST_F(AComparison, FindsTheBestLearningRateOfEachMethod) {
  const Comparison comparison = compare_runs(runs_);
  ASSERT_EQ(comparison.best().size(), 2U);
  EXPECT_EQ(comparison.best()[0]->lr, 0.002);
  EXPECT_EQ(comparison.best()[1]->lr, 0.001);
}

TEST_F(AComparison, DoesNotChooseALearningRateThatOnceDiverged) {
  runs_[4].metrics.eval.back().loss = run::kNoNumber;
  const Comparison comparison = compare_runs(runs_);
  EXPECT_EQ(comparison.best()[0]->lr, 0.004);
  EXPECT_TRUE(std::isnan(comparison.groups[0].final_loss.mean));
}

TEST_F(AComparison, IsSaidInOneSentence) {
  EXPECT_EQ(
      comparison_verdict(compare_runs(runs_)),
      "bcosw_c ended at 1.750 with 444 kB of state, adamw at 1.250 with 444 kB of state "
      "(final validation loss at each method's best learning rate, means of 1 to 2 runs). adamw "
      "less bcosw_c: -0.2500 on one seed, which says nothing about others. A best rate at the "
      "edge of its grid may not be the best there is.");
  runs_.push_back(run_with("adamw", "0.001", 2, 1.75));
  const std::string verdict = comparison_verdict(compare_runs(runs_));
  EXPECT_NE(verdict.find("adamw less bcosw_c: -0.2500 ± 0.0000 (standard error over 2 seeds"),
            std::string::npos)
      << verdict;
}

TEST_F(AComparison, SaysWhichMethodsNeverEndedWell) {
  runs_[1].metrics.eval.back().loss = run::kNoNumber;
  const std::string verdict = comparison_verdict(compare_runs(runs_));
  EXPECT_NE(verdict.find("No learning rate of adamw ended with a finite"), std::string::npos)
      << verdict;
}

TEST_F(AComparison, IsATableInTheTerminal) {
  EXPECT_EQ(comparison_text(compare_runs(runs_)),
            "method      lr  alpha x lambda  seeds      final val       best val  spikes  ms/step  "
            "optimizer   state\n"
            "bcosw_c  0.002          0.0002      2  1.750 ± 0.354  1.750 ± 0.354       0        –  "
            "        –  444 kB  <\n"
            "bcosw_c  0.004          0.0004      2  2.000 ± 0.707  2.000 ± 0.707       0        –  "
            "        –  444 kB\n"
            "adamw    0.001           1e-05      1          1.250          1.250       0        –  "
            "        –  444 kB\n"
            "< best of the rates that were tried, at their edge: --grow lr tries others\n"
            "alpha x lambda, the rate at which weights decay, is not the same everywhere\n");
}

TEST_F(AComparison, CountsFinishedRunsAloneAndEachOnce) {
  runs_[4].state.status = run::Status::interrupted;
  runs_.push_back(runs_[2]);
  const Comparison comparison = compare_runs(runs_);
  EXPECT_EQ(comparison.groups[0].counted, 1U);
  EXPECT_EQ(comparison.groups[0].final_loss.mean, 1.5);
  EXPECT_EQ(comparison.groups[0].trouble, "1 of 2 interrupted");
  EXPECT_FALSE(comparison.groups[0].best_lr);
  runs_[1].state.status = run::Status::running;
  EXPECT_NE(comparison_verdict(compare_runs(runs_)).find("Not all runs of adamw have come to"),
            std::string::npos);
  EXPECT_FALSE(comparison.runs[2].counts);
  EXPECT_TRUE(comparison.runs[5].counts);
  runs_[4].state.status = run::Status::diverged;
  EXPECT_TRUE(std::isnan(compare_runs(runs_).groups[0].final_loss.mean));
}

TEST_F(AComparison, LeavesTheSeedThatChoseOutOfTheMeans) {
  ComparisonOptions options;
  options.choosing_seed = 1;
  const Comparison comparison = compare_runs(runs_, options);
  EXPECT_EQ(comparison.groups[0].final_loss.mean, 2);
  EXPECT_EQ(comparison.groups[0].counted, 1U);
  EXPECT_EQ(comparison.groups[2].final_loss.mean, 1.25) << "there is no other";
}

TEST_F(AComparison, OfManyGroupsNamesTheLeast) {
  for (int i = 0; i < 6; ++i) {
    runs_.push_back(run_with("bcosw_c", "0.002", 1, 2.0 + i));
    runs_.back().settings.emplace_back("dropout", fmt::format("{:.1f}", 0.1 * (i + 1)));
  }
  const std::string verdict = comparison_verdict(compare_runs(runs_));
  EXPECT_NE(verdict.find("Of 8 groups adamw"), std::string::npos) << verdict;
}

TEST_F(AComparison, CallsNoEdgeTheBest) {
  runs_.push_back(run_with("bcosw_c", "0.001", 1, 9));
  const Comparison comparison = compare_runs(runs_);
  EXPECT_TRUE(comparison.groups[1].best_lr);
  EXPECT_FALSE(comparison.groups[1].edge);
}

TEST(Words, ShowNumbersAsPeopleReadThem) {
  EXPECT_EQ(loss_text(1.52649), "1.526");
  EXPECT_EQ(loss_text(0.0123456), "0.01235");
  EXPECT_EQ(loss_text(run::kNoNumber), "–");
  EXPECT_EQ(loss_text(Spread{1.5, 0.0004}), "1.500 ± 0.0004");
  EXPECT_EQ(loss_text(Spread{1.5, 0}), "1.500 ± 0.000");
  EXPECT_EQ(moment_text(1794841163.47), "2026-11-16 14:59 UTC");
  EXPECT_EQ(moment_text(-1), "1969-12-31 23:59 UTC");
  EXPECT_EQ(moment_text(1e300), "–");
  EXPECT_EQ(bytes_text(444000), "444 kB");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(999600), "1.00 MB");
  EXPECT_EQ(bytes_text(1.5e9), "1.50 GB");
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(123), "123");
  EXPECT_EQ(count_text(0.5), "0.5");
  EXPECT_EQ(number_text(0.0006), "0.0006");
  EXPECT_EQ(percent_text(0.4125), "41.2 %");
}

TEST(TheVerdictOfARun, SaysHowItEndedAndWhatItKeeps) {
  RunSummary run;
  run.method = "bcosw_c";
  run.steps = 1000;
  run.final_loss = 1.526;
  run.final_step = 1000;
  run.best_loss = 1.52;
  run.best_step = 900;
  run.state_bytes = 444000;
  run.adamw_state_bytes = 888000;
  EXPECT_EQ(run_verdict(run),
            "bcosw_c ended at a validation loss of 1.526 after 1,000 steps (best: 1.520 at step "
            "900), with 444 kB of optimizer state; AdamW would keep 888 kB.");
  run.final_loss = run::kNoNumber;
  run.not_finite = 1;
  EXPECT_EQ(run_verdict(run),
            "bcosw_c ran 1,000 steps and has no finite validation loss at the end, with 444 kB of "
            "optimizer state; AdamW would keep 888 kB. The training loss was not finite at 1 "
            "step.");
}

}  // namespace
}  // namespace bcos::lab::report
