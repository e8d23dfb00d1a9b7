#include "lab/report/page.hpp"

#include <algorithm>

#include "engine/error.hpp"
#include "lab/cli/html.hpp"
#include "lab/report/assets.hpp"
#include "lab/report/page_data.hpp"
#include "lab/report/page_tables.hpp"
#include "lab/report/summary.hpp"
#include "lab/report/words.hpp"

namespace bcos::lab::report {
namespace {

constexpr std::size_t kMostPointsOfAll = 64000;  // of one kind of curve, all runs together
constexpr std::size_t kLeastPoints = 500;

std::size_t points_for(std::size_t runs) {
  return std::clamp(kMostPointsOfAll / runs, kLeastPoints, kMostPoints);
}

std::string thinning_note(bool thinned, std::size_t points) {
  if (!thinned) return {};
  return fmt::format(
      "<p class=\"note\">Curves with more than {} points are thinned out to that many: of every "
      "stretch the least and the largest value are drawn. Numbers and tables are computed from "
      "all points.</p>\n",
      count_text(static_cast<double>(points)));
}

struct Parts {
  std::string title;
  std::string subtitle;
  std::string verdict;
  std::string numbers;
  std::string tables;
};

std::string assemble(const Parts& parts, const PageData& data, std::size_t points) {
  return cli::fill_template(page_html(), {{"title", cli::html_text(parts.title)},
                                          {"subtitle", cli::html_text(parts.subtitle)},
                                          {"verdict", cli::html_text(parts.verdict)},
                                          {"style", std::string(page_css())},
                                          {"numbers", parts.numbers},
                                          {"note", thinning_note(data.thinned, points)},
                                          {"tables", parts.tables},
                                          {"data", cli::script_json(data.json)},
                                          {"chart", std::string(chart_js())},
                                          {"diagnosis", std::string(diagnosis_js())},
                                          {"page", std::string(page_js())}});
}

}  // namespace

std::string run_page(const run::RunRecord& run) {
  const std::span<const run::RunRecord> runs(&run, 1);
  const Comparison summary = compare_runs(runs);
  const std::size_t points = points_for(1);
  const PageData data = page_data(false, runs, summary, points);
  return assemble({.title = run.name,
                   .subtitle = "A training run",
                   .verdict = run_verdict(summary.runs.front()),
                   .numbers = run_tiles(summary.runs.front()),
                   .tables = settings_tables(runs) + facts_tables(runs)},
                  data, points);
}

std::string compare_page(const std::string& title, std::span<const run::RunRecord> runs,
                         const ComparisonOptions& options) {
  if (runs.empty()) throw fail("compare_page", "expected at least one run but received none");
  const Comparison summary = compare_runs(runs, options);
  const std::size_t points = points_for(runs.size());
  const PageData data = page_data(true, runs, summary, points);
  return assemble(
      {.title = title,
       .subtitle =
           fmt::format("A comparison of {} run{}", runs.size(), runs.size() == 1 ? "" : "s"),
       .verdict = comparison_verdict(summary),
       .numbers = group_table(summary),
       .tables = runs_table(runs, summary) + settings_tables(runs) + facts_tables(runs)},
      data, points);
}

}  // namespace bcos::lab::report
