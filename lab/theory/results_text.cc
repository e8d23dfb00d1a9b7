#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "lab/cli/human.hpp"
#include "lab/cli/table.hpp"
#include "lab/theory/results.hpp"
#include "lab/theory/words.hpp"

namespace bcos::lab::theory {
namespace {

using lab::cli::Align;
using lab::cli::Table;

/// A table with words below each row, wrapped.
std::string with_words_below(const Table& table, std::span<const std::vector<std::string>> words,
                             int columns) {
  constexpr int kIndent = 7;
  constexpr int kFurther = 2;
  std::string out;
  const std::string text = table.text();
  std::size_t row = 0;  // 0: the titles
  for (std::size_t at = 0; at < text.size(); ++row) {
    const std::size_t end = text.find('\n', at) + 1;
    out += text.substr(at, end - at);
    at = end;
    if (row == 0) continue;
    for (const std::string& paragraph : words[row - 1]) {
      int indent = kIndent;
      for (const std::string& line : lab::cli::wrapped(paragraph, columns - kIndent - kFurther)) {
        out += fmt::format("{:{}}{}\n", "", indent, line);
        indent = kIndent + kFurther;
      }
    }
  }
  return out;
}

int width_of(const Table& table) {
  std::istringstream lines(table.text());
  int width = 0;
  for (std::string line; std::getline(lines, line);) {
    width = std::max(width, lab::cli::display_columns(line));
  }
  return width;
}

int widest(std::span<const std::string> cells) {
  int width = 0;
  for (const std::string& cell : cells) width = std::max(width, lab::cli::display_columns(cell));
  return width;
}

/// A row whose cell `which` takes as many lines as it needs.
void add_wrapped(Table& table, std::vector<std::string> cells, std::size_t which, int room) {
  constexpr int kFurther = 2;  // lines after the first stand further in
  const bool fits = lab::cli::display_columns(cells[which]) <= room;
  const std::vector<std::string> lines =
      lab::cli::wrapped(cells[which], fits ? room : room - kFurther);
  for (std::size_t i = 0; i < std::max<std::size_t>(lines.size(), 1); ++i) {
    cells[which] = i < lines.size() ? std::string(i == 0 ? 0 : kFurther, ' ') + lines[i] : "";
    table.add(cells);
    for (std::string& cell : cells) cell.clear();
  }
}

Table table_of(std::span<const Result> results, bool with_errata) {
  Table table({{"claim"},
               {"in the paper"},
               {"predicted", Align::right},
               {"measured", Align::right},
               {"verdict"}});
  for (const Result& result : results) {
    const Check& headline = result.findings.headline();
    table.add({result.claim->id, result.claim->name, predicted_text(headline),
               measured_text(headline),
               with_errata ? full_verdict_text(result) : verdict_text(result)});
  }
  return table;
}

}  // namespace

std::string results_table(std::span<const Result> results, int columns) {
  // Where a line has no room for the numbers of errata, they go below it.
  Table table = table_of(results, true);
  const bool with_errata = width_of(table) <= columns;
  if (!with_errata) table = table_of(results, false);
  std::vector<std::vector<std::string>> below;
  for (const Result& result : results) {
    const std::string ids = with_errata ? "" : corrections_text(result);
    const std::string printed = printed_text(result);
    below.push_back({fmt::format("{}; {} ({} checks, {:.1f} s)", result.claim->title,
                                 result.findings.headline().what, result.findings.checks().size(),
                                 result.seconds),
                     ids + (ids.empty() || printed.empty() ? "" : ", ") + printed});
  }
  return with_words_below(table, below, columns);
}

std::string checks_text(const Result& result, int columns) {
  const double errors = result.findings.errors();
  std::vector<std::string> predicted;
  std::vector<std::string> measured;
  std::vector<std::string> verdicts;
  for (const Check& check : result.findings.checks()) {
    predicted.push_back(predicted_text(check));
    measured.push_back(measured_text(check));
    verdicts.push_back(verdict_text(check, errors));
  }
  constexpr int kGaps = 2 + 3 * 2;
  constexpr int kLeast = 24;
  const int others = std::max(9, widest(predicted)) + std::max(8, widest(measured)) +
                     std::max(7, widest(verdicts)) + kGaps;
  const int room = std::max(columns - others, kLeast);
  Table table({{"check"}, {"predicted", Align::right}, {"measured", Align::right}, {"verdict"}});
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    add_wrapped(table, {result.findings.checks()[i].what, predicted[i], measured[i], verdicts[i]},
                0, room);
  }
  return table.text("  ");
}

std::string mutants_text(std::span<const Result> results, int columns) {
  Table table({{"claim"}, {"mutant"}, {""}, {"missed by"}});
  std::vector<std::vector<std::string>> below;
  for (const Result& result : results) {
    for (std::size_t k = 0; k < result.mutants.size(); ++k) {
      const MutantResult& mutant = result.mutants[k];
      const Check& seen = witness(mutant.findings);
      table.add({result.claim->id, fmt::format("{}", k + 1), mutant.caught ? "caught" : "SURVIVES",
                 miss_text(seen)});
      below.push_back({mutant.what, fmt::format("seen in {}", seen.what)});
    }
  }
  std::string out = with_words_below(table, below, columns) + "\n";
  Table checks({{"claim"}, {"broken by mutant"}, {"check"}});
  for (const Result& result : results) {
    const auto by = broken_by(result);
    for (std::size_t i = 0; i < by.size(); ++i) {
      const Check& check = result.findings.checks()[i];
      if (check.form == Form::printed) continue;
      std::string numbers;
      for (const std::size_t k : by[i])
        numbers += fmt::format("{}{}", numbers.empty() ? "" : " ", k);
      constexpr int kOthers = 32;
      add_wrapped(checks, {result.claim->id, numbers.empty() ? "none" : numbers, check.what}, 2,
                  columns - kOthers);
    }
  }
  const Coverage coverage = coverage_of(results);
  return out + checks.text() +
         fmt::format("\n{} of {} checks are broken by a mutant\n", coverage.broken,
                     coverage.checks);
}

}  // namespace bcos::lab::theory
