#include "lab/theory/report.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "bcos/error.hpp"
#include "lab/cli/human.hpp"
#include "lab/theory/tour.hpp"
#include "lab/theory/words.hpp"
#include "tests/scratch.hpp"

namespace bcos::lab::theory {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(bcos::testing::scratch_path("theory-report")) { fs::remove_all(path_); }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

Claim made_up(const std::string& id, std::vector<std::string> errata = {}) {
  return {.id = id,
          .name = "Lemma " + id,
          .title = "title of " + id,
          .statement = "alpha <= 1 & </p><script>",
          .errata = std::move(errata)};
}

Result result_of(const Claim& claim) {
  Result result;
  result.claim = &claim;
  result.findings.at_most("the measured <b>", {1.25, 0.01}, 2);
  return result;
}

lab::plot::Figure small_figure() {
  return {.title = "small",
          .caption = "A caption.",
          .x = {.label = "x"},
          .y = {.label = "y"},
          .series = {{.label = "", .x = {0, 1}, .y = {0, 1}}}};
}

TEST(TheTour, NamesEveryClaimOnce) {
  std::set<std::string> named;
  for (const Chapter& chapter : chapters()) {
    for (const std::string& id : chapter.claims) EXPECT_TRUE(named.insert(id).second) << id;
  }
  for (int i = 1; i <= 24; ++i) EXPECT_TRUE(named.contains("T" + std::to_string(i))) << i;
  EXPECT_EQ(named.size(), 24U);
}

TEST(TheTour, FollowsThePaperAndEndsWithWhatIsNotInIt) {
  const std::vector<Claim> claims = {made_up("T4"), made_up("T99"), made_up("T7"), made_up("T1")};
  std::vector<Result> results;
  for (const Claim& claim : claims) results.push_back(result_of(claim));
  std::vector<std::string> order;
  for (const Stop& stop : tour_of(results)) {
    EXPECT_FALSE(stop.results.empty());
    for (const Result* result : stop.results) order.push_back(result->claim->id);
  }
  EXPECT_EQ(order, (std::vector<std::string>{"T1", "T7", "T4", "T99"}));
}

TEST(AVerdict, SaysWhichErrataChangedTheClaim) {
  const Claim plain = made_up("T1");
  const Claim slips = made_up("T2", {"E18: a slip.", "E25: another."});
  const Claim corrected = made_up("T3", {"E1: a factor.", "E18: a slip.", "E3: a constant."});
  EXPECT_EQ(verdict_text(result_of(plain)), "holds");
  EXPECT_EQ(verdict_text(result_of(slips)), "holds");
  EXPECT_EQ(full_verdict_text(result_of(corrected)), "holds (E1, E3)");
  EXPECT_EQ(printed_text(result_of(slips)), "");
  EXPECT_EQ(printed_text(result_of(corrected)), "as printed: not checked");
}

TEST(AVerdict, SaysWhatCameOfThePrintedForm) {
  const Claim claim = made_up("T3", {"E1: a factor."});
  Result result = result_of(claim);
  Findings::as_printed(result.findings.at_most("a weaker bound", {1}, 2), true);
  EXPECT_EQ(printed_text(result), "as printed: holds too");
  EXPECT_EQ(full_verdict_text(result), "holds, sharper (E1)");
  Findings::as_printed(result.findings.at_most("a wrong bound", {3}, 2), false);
  EXPECT_EQ(printed_text(result), "as printed: fails in 1 of 2: a wrong bound");
  EXPECT_EQ(full_verdict_text(result), "holds, corrected (E1)");
  Findings::as_printed(result.findings.at_most("another", {3}, 2), true);
  EXPECT_EQ(printed_text(result), "as printed: fails in 2 of 3: a wrong bound; NOT EXPECTED");
  EXPECT_EQ(verdict_text(result), "FAILS");
}

TEST(TheTable, FitsItsColumns) {
  Claim claim = made_up("T3", {"E1: a factor.", "E10: a gap."});
  Result result = result_of(claim);
  result.findings.equal(
      "a check whose words do not fit into the eighty columns of a small terminal", {1}, 1);
  Findings::as_printed(result.findings.at_most("printed", {3}, 2), false);
  result.mutants.push_back({.what = "wrong", .caught = true, .findings = result.findings});
  const std::vector<Result> results = {result};
  for (const int columns : {80, 100, 120}) {
    for (const std::string& text : {results_table(results, columns), checks_text(result, columns),
                                    mutants_text(results, columns)}) {
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(lab::cli::display_columns(line), columns) << line;
      }
    }
  }
  EXPECT_NE(results_table(results).find("holds, corrected (E1, E10)\n"), std::string::npos);
  EXPECT_NE(results_table(results, 60).find("holds, corrected\n"), std::string::npos);
  EXPECT_NE(results_table(results, 60).find("E1, E10, as printed: fails"), std::string::npos);
  EXPECT_NE(results_table(results).find("as printed: fails"), std::string::npos);
}

TEST(ThePage, ShowsEveryCheckErratumAndMutantThatWasRun) {
  const Claim claim = made_up("T3", {"E1: a factor of alpha^2."});
  Result result = result_of(claim);
  Findings::as_printed(result.findings.equal("as the paper has it", {3}, 2), false);
  result.findings.number("a number", {0.125});
  result.findings.figure(small_figure());
  const std::vector<Result> results = {result};
  const std::string page = report_page(results, {});
  EXPECT_NE(page.find("<section class=\"card claim\" id=\"T3\">"), std::string::npos);
  EXPECT_NE(page.find("href=\"#T3\""), std::string::npos);
  EXPECT_NE(page.find("data-name=\"measured\" data-value=\"1.25\">1.25<"), std::string::npos);
  EXPECT_NE(page.find("a factor of α<sup>2</sup>."), std::string::npos);
  EXPECT_NE(page.find("<td>printed form fails</td>"), std::string::npos);
  EXPECT_NE(page.find("data-value=\"0.125\""), std::string::npos);
  EXPECT_NE(page.find("A caption."), std::string::npos);
  EXPECT_EQ(count_of(page, "<svg "), 1U);
  EXPECT_NE(page.find("the quick form"), std::string::npos);
  EXPECT_EQ(page.find("class=\"mutants\""), std::string::npos);

  std::vector<Result> with_mutant = results;
  with_mutant[0].mutants.push_back({.what = "a wrong sign", .caught = false, .findings = {}});
  with_mutant[0].mutants[0].findings = result.findings;
  const std::string other = report_page(with_mutant, {.full = true, .mutants = true});
  EXPECT_NE(other.find("a wrong sign"), std::string::npos);
  EXPECT_NE(other.find("SURVIVES"), std::string::npos);
  EXPECT_NE(other.find("the full form"), std::string::npos);
}

/// Two checks that hold, and mutants that miss them by so much.
Result with_mutants(const Claim& claim, const std::vector<std::vector<double>>& measured) {
  Result result;
  result.claim = &claim;
  result.findings.equal("one", {1}, 1);
  result.findings.equal("another", {1}, 1);
  Findings::as_printed(result.findings.equal("printed", {2}, 1), false);
  for (const auto& values : measured) {
    MutantResult mutant;
    mutant.what = "wrong";
    for (const double value : values) mutant.findings.equal("check", {value}, 1);
    mutant.caught = mutant.findings.caught();
    result.mutants.push_back(std::move(mutant));
  }
  return result;
}

TEST(Mutants, BreakTheChecksThatTheyClearlyMiss) {
  const Claim claim = made_up("T3");
  const std::vector<Result> results = {with_mutants(claim, {{1, 1, 5}, {2, 1, 1}, {3, 1, 1}})};
  const auto by = broken_by(results[0]);
  EXPECT_EQ(by[0], (std::vector<std::size_t>{2, 3}));
  EXPECT_TRUE(by[1].empty());
  const Coverage coverage = coverage_of(results);
  EXPECT_EQ(coverage.broken, 1U);
  EXPECT_EQ(coverage.checks, 2U);  // the printed form is no check of the claim
  EXPECT_TRUE(mutants_text(results).ends_with("\n1 of 2 checks are broken by a mutant\n"));
}

TEST(Mutants, MustMakeTheSameChecks) {
  const Claim claim = made_up("T3");
  EXPECT_THROW(broken_by(with_mutants(claim, {{1, 1}})), Error);
}

TEST(ThePage, LetsNoTextBreakOut) {
  const Claim claim = made_up("T3");
  const std::vector<Result> results = {result_of(claim)};
  const std::string page = report_page(results, {});
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("measured <b>"), std::string::npos);
  EXPECT_EQ(count_of(page, "</body>"), 1U);
}

TEST(AReport, HasThePageTheNumbersAndTheFigures) {
  const Folder folder;
  const Claim claim = made_up("T5");
  Result result = result_of(claim);
  result.findings.figure(small_figure());
  result.findings.figure(small_figure());
  const std::vector<Result> results = {result};
  const std::string deep = (folder.path() / "deep/er").string();
  prepare_report(deep);
  write_report(deep, results, {});
  EXPECT_EQ(nlohmann::ordered_json::parse(text_of(deep + "/theory.json")), to_json(results, {}));
  EXPECT_EQ(text_of(deep + "/theory.html"), report_page(results, {}));
  EXPECT_EQ(text_of(deep + "/figures/t05-2.svg"), lab::plot::svg_of(small_figure()));
  EXPECT_EQ(to_json(results, {})["claims"][0]["figures"][1]["file"], "figures/t05-2.svg");
}

TEST(AReport, IsRefusedWhereItCannotBe) {
  const Folder folder;
  fs::create_directories(folder.path());
  const fs::path file = folder.path() / "file";
  std::ofstream(file) << "x";
  EXPECT_THROW(prepare_report(file.string()), Error);
  EXPECT_THROW(prepare_report((file / "inside").string()), Error);
  EXPECT_THROW(prepare_report("/proc/theory"), Error);
  std::ofstream(folder.path() / "figures") << "x";
  EXPECT_THROW(prepare_report(folder.path().string()), Error);
}

}  // namespace
}  // namespace bcos::lab::theory
