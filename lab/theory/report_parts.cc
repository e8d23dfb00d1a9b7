#include "lab/theory/report_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lab/cli/html.hpp"
#include "lab/plot/formula_text.hpp"
#include "lab/theory/html_table.hpp"
#include "lab/theory/problem.hpp"
#include "lab/theory/words.hpp"

namespace bcos::lab::theory {
namespace {

using lab::cli::html_text;
using lab::plot::formula_html;
using Cell = HtmlTable::Cell;

std::string link_to(const Claim& claim) {
  return fmt::format("<a href=\"#{0}\">{0}</a>", cli::html_text(claim.id));
}

/// "1 claim", "2 claims".
std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string verdict_of(std::span<const Result> results) {
  std::size_t failed = 0;
  std::size_t corrected = 0;
  std::size_t checks = 0;
  std::size_t mutants = 0;
  std::size_t caught = 0;
  for (const Result& result : results) {
    failed += result.findings.pass() ? 0 : 1;
    corrected += printed_of(result) == Printed::fails ? 1 : 0;
    checks += result.findings.checks().size();
    mutants += result.mutants.size();
    caught += static_cast<std::size_t>(
        std::ranges::count_if(result.mutants, [](const MutantResult& m) { return m.caught; }));
  }
  std::string text = failed == 0
                         ? fmt::format("{} put to {}: all hold", counted(results.size(), "claim"),
                                       counted(checks, "check"))
                         : fmt::format("{} put to {}: {} not hold",
                                       counted(results.size(), "claim"), counted(checks, "check"),
                                       failed == 1 ? "1 does" : fmt::format("{} do", failed));
  if (corrected > 0) text += fmt::format(", {} of them only in a corrected form", corrected);
  text += ".";
  if (mutants > 0) {
    text += fmt::format(" Of {} put in on purpose, {} caught.", counted(mutants, "wrong formula"),
                        caught == mutants ? "all were" : fmt::format("only {} were", caught));
  }
  return cli::html_text(text);
}

std::string contents_list(std::span<const Stop> tour) {
  std::string out = "<ol class=\"contents\">\n";
  for (std::size_t i = 0; i < tour.size(); ++i) {
    out += fmt::format("<li><a href=\"#chapter-{}\">{}</a> <span class=\"place\">{}</span>\n<ul>\n",
                       i + 1, cli::html_text(tour[i].chapter->title),
                       cli::html_text(tour[i].chapter->place));
    for (const Result* result : tour[i].results) {
      const bool good = result->pass();
      std::string badges;
      for (const Erratum& erratum : errata_of(*result->claim)) {
        if (!erratum.slip) {
          badges += fmt::format(" <span class=\"badge\">{}</span>", cli::html_text(erratum.id));
        }
      }
      out += fmt::format(
          "<li><span class=\"mark{}\">{}</span> <span>{} <a href=\"#{}\">{}: "
          "{}</a>{}</span></li>\n",
          good ? "" : " bad", good ? "✓" : "✗", cli::html_text(result->claim->id),
          cli::html_text(result->claim->id), plot::formula_html(capitalised(result->claim->name)),
          plot::formula_html(result->claim->title), badges);
    }
    out += "</ul></li>\n";
  }
  return out + "</ol>\n";
}

std::string summary_table(std::span<const Stop> tour) {
  HtmlTable table({HtmlTable::words("claim"), HtmlTable::words("in the paper"),
                   HtmlTable::words("what is checked"), Cell{"predicted", true},
                   Cell{"measured", true}, Cell{"standard error", true},
                   HtmlTable::words("verdict"), Cell{"checks", true}, Cell{"seconds", true}});
  for (const Stop& stop : tour) {
    for (const Result* result : stop.results) {
      const Check& check = result->findings.headline();
      const std::string printed = printed_text(*result);
      table.add(
          {HtmlTable::markup(link_to(*result->claim)),
           HtmlTable::markup(plot::formula_html(capitalised(result->claim->name)) + "<br>" +
                             plot::formula_html(result->claim->title)),
           HtmlTable::words(check.what), HtmlTable::number(predicted_text(check), check.predicted),
           HtmlTable::number(number_text(check.measured.value), check.measured.value),
           HtmlTable::number(error_text(check), check.measured.se),
           HtmlTable::markup(cli::html_text(full_verdict_text(*result)) +
                             (printed.empty() ? "" : "<br>" + plot::formula_html(printed))),
           Cell{fmt::format("{}", result->findings.checks().size()), true},
           Cell{fmt::format("{:.1f}", result->seconds), true}},
          result->pass());
    }
  }
  return table.text();
}

std::string problems_table() {
  HtmlTable table({HtmlTable::words("problem"), HtmlTable::words("what it is"), Cell{"n", true},
                   Cell{"blocks", true}, Cell{"lambda", true}});
  for (const NamedProblem& named : problems()) {
    const auto problem = named.make();
    table.add({HtmlTable::words(named.id), HtmlTable::words(named.summary),
               Cell{fmt::format("{}", problem->size()), true},
               Cell{fmt::format("{}", problem->blocks()), true},
               Cell{fmt::format("{}", problem->lambda()), true}});
  }
  return table.text();
}

}  // namespace bcos::lab::theory
