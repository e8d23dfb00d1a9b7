#include <fmt/format.h>

#include <algorithm>

#include "lab/cli/html.hpp"
#include "lab/plot/figure.hpp"
#include "lab/plot/formula_text.hpp"
#include "lab/theory/html_table.hpp"
#include "lab/theory/report_parts.hpp"
#include "lab/theory/words.hpp"

namespace bcos::lab::theory {
namespace {

using lab::cli::html_text;
using lab::plot::formula_html;
using Cell = HtmlTable::Cell;

std::string heading(const Result& result) {
  const Claim& claim = *result.claim;
  const bool good = result.pass();
  return fmt::format(
      "<h3><a class=\"id\" href=\"#{0}\">{0}</a> <span>{1}: {2}</span> "
      "<span class=\"mark{3}\">{4} {5}</span></h3>\n",
      cli::html_text(claim.id), plot::formula_html(capitalised(claim.name)),
      plot::formula_html(claim.title), good ? "" : " bad", good ? "✓" : "✗",
      cli::html_text(full_verdict_text(result)));
}

std::string term(const char* name, const std::string& words, double value) {
  return fmt::format("<div><dt>{0}</dt><dd data-name=\"{0}\" data-value=\"{1}\">{2}</dd></div>\n",
                     name, value, plot::formula_html(words));
}

/// The check that stands for the claim.
std::string headline(const Result& result) {
  const Check& check = result.findings.headline();
  return fmt::format(
      "<dl class=\"headline\">\n<div class=\"what\"><dt>checked</dt><dd>{}</dd></div>"
      "\n{}{}{}</dl>\n",
      plot::formula_html(check.what), term("predicted", predicted_text(check), check.predicted),
      term("measured", number_text(check.measured.value), check.measured.value),
      term("standard error", error_text(check), check.measured.se));
}

std::string figures(const Result& result) {
  std::string out;
  for (const lab::plot::Figure& figure : result.findings.figures()) {
    out += fmt::format("<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n",
                       lab::plot::inline_svg_of(figure), plot::formula_html(figure.caption));
  }
  return out.empty() ? "" : "<div class=\"figures\">\n" + out + "</div>\n";
}

std::string checks_table(const Findings& findings, bool printed_alone) {
  HtmlTable table({HtmlTable::words("check"), Cell{"predicted", true}, Cell{"measured", true},
                   Cell{"standard error", true}, Cell{"allowed besides", true},
                   HtmlTable::words("verdict")});
  const double errors = findings.errors();
  for (const Check& check : findings.checks()) {
    if (printed_alone && check.form != Form::printed) continue;
    table.add(
        {HtmlTable::words(check.what), HtmlTable::number(predicted_text(check), check.predicted),
         HtmlTable::number(number_text(check.measured.value), check.measured.value),
         HtmlTable::number(error_text(check), check.measured.se),
         HtmlTable::number(fmt::format("{:.1g}", check.slack), check.slack),
         HtmlTable::words(verdict_text(check, errors))},
        check.passes(errors));
  }
  return "<div class=\"scroll\">\n" + table.text() + "</div>\n";
}

std::string errata(const Result& result) {
  const std::vector<Erratum> all = errata_of(*result.claim);
  if (all.empty()) return {};
  std::string out = "<h4>Errata</h4>\n<ul class=\"errata\">\n";
  for (const Erratum& erratum : all) {
    out += fmt::format("<li><span class=\"badge\">{}</span> {}</li>\n",
                       erratum.slip ? fmt::format("{}, a slip", cli::html_text(erratum.id))
                                    : cli::html_text(erratum.id),
                       plot::formula_html(erratum.text));
  }
  return out + "</ul>\n";
}

/// What came of the paper's own form; open where there is little of it.
std::string printed_form(const Findings& findings) {
  const double errors = findings.errors();
  std::size_t count = 0;
  std::size_t failing = 0;
  for (const Check& check : findings.checks()) {
    if (check.form != Form::printed) continue;
    ++count;
    failing += check.holds(errors) ? 0 : 1;
  }
  if (count == 0) return {};
  constexpr std::size_t kFew = 6;
  return fmt::format(
      "<details class=\"printed\"{}>\n<summary>The form in print {}</summary>\n{}</details>\n",
      count <= kFew ? " open" : "",
      failing == 0 ? fmt::format("holds in all {} of its checks", count)
                   : fmt::format("fails in {} of {} checks", failing, count),
      checks_table(findings, true));
}

std::string all_checks(const Findings& findings) {
  const double errors = findings.errors();
  const std::size_t count = findings.checks().size();
  const auto passing = static_cast<std::size_t>(std::ranges::count_if(
      findings.checks(), [&](const Check& check) { return check.passes(errors); }));
  return fmt::format(
      "<details class=\"checks\"{}>\n<summary>{} of {} checks come out as they should; {:.2g} "
      "standard errors allowed</summary>\n{}</details>\n",
      passing == count ? "" : " open", passing, count, errors, checks_table(findings, false));
}

std::string numbers(const Findings& findings) {
  if (findings.numbers().empty()) return {};
  HtmlTable table({HtmlTable::words("number"), Cell{"value", true}, Cell{"standard error", true}});
  for (const auto& [name, value] : findings.numbers()) {
    table.add({HtmlTable::words(name), HtmlTable::number(number_text(value.value), value.value),
               HtmlTable::number(value.se == 0 ? "" : fmt::format("{:.1g}", value.se), value.se)});
  }
  return fmt::format(
      "<details class=\"numbers\">\n<summary>{} measured besides</summary>\n<div "
      "class=\"scroll\">\n{}</div></details>\n",
      findings.numbers().size() == 1 ? "1 number"
                                     : fmt::format("{} numbers", findings.numbers().size()),
      table.text());
}

std::string mutants(const Result& result) {
  if (result.mutants.empty()) return {};
  HtmlTable table({HtmlTable::words("wrong formula"), HtmlTable::words("verdict"),
                   HtmlTable::words("seen in"), Cell{"missed by", true}});
  std::size_t caught = 0;
  for (const MutantResult& mutant : result.mutants) {
    const Check& seen = witness(mutant.findings);
    caught += mutant.caught ? 1 : 0;
    table.add(
        {HtmlTable::words(mutant.what), HtmlTable::words(mutant.caught ? "caught" : "SURVIVES"),
         HtmlTable::words(seen.what), Cell{miss_text(seen), true}},
        mutant.caught);
  }
  const auto by = broken_by(result);
  HtmlTable checks({HtmlTable::words("check"), HtmlTable::words("broken by")});
  for (std::size_t i = 0; i < by.size(); ++i) {
    if (result.findings.checks()[i].form == Form::printed) continue;
    std::string names;
    for (const std::size_t k : by[i]) {
      names += fmt::format("{}{}", names.empty() ? "" : "; ", result.mutants[k - 1].what);
    }
    checks.add({HtmlTable::words(result.findings.checks()[i].what),
                HtmlTable::words(names.empty() ? "none" : names)});
  }
  const Coverage coverage = coverage_of({&result, 1});
  return fmt::format(
      "<details class=\"mutants\"{}>\n<summary>{} of {} wrong formulas put in on purpose were "
      "caught; {} of {} checks are broken by one</summary>\n<div class=\"scroll\">\n{}{}</div>"
      "</details>\n",
      caught == result.mutants.size() ? "" : " open", caught, result.mutants.size(),
      coverage.broken, coverage.checks, table.text(), checks.text());
}

}  // namespace

std::string claim_section(const Result& result) {
  return fmt::format(
      "<section class=\"card claim\" id=\"{}\">\n{}<p>{}</p>\n{}{}{}{}{}{}{}</section>\n",
      cli::html_text(result.claim->id), heading(result),
      plot::formula_html(result.claim->statement), headline(result), figures(result),
      errata(result), printed_form(result.findings), all_checks(result.findings),
      numbers(result.findings), mutants(result));
}

}  // namespace bcos::lab::theory
