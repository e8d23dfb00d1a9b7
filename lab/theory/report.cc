#include "lab/theory/report.hpp"

#include <filesystem>

#include "bcos/version.h"
#include "lab/cli/files.hpp"
#include "lab/cli/html.hpp"
#include "lab/plot/assets.hpp"
#include "lab/plot/figure.hpp"
#include "lab/plot/formula_text.hpp"
#include "lab/report/assets.hpp"
#include "lab/theory/assets.hpp"
#include "lab/theory/report_parts.hpp"

namespace bcos::lab::theory {
namespace {

namespace fs = std::filesystem;
using lab::cli::html_text;

std::string how_it_was_run(std::span<const Result> results, const RunOptions& options) {
  double seconds = 0;
  for (const Result& result : results) seconds += result.seconds;
  return fmt::format(
      "<p>By bcos {}, in the {} form: {}. {} It took {:.1f} seconds. All random numbers are fixed: "
      "the same version gives the same numbers again, on any number of threads. theory.json beside "
      "this page has all of them with all digits, those of the figures too, and figures/ has every "
      "figure as a file.</p>\n",
      cli::html_text(BCOS_VERSION_STRING), options.full ? "full" : "quick",
      options.full ? "replicates and horizons of the specification"
                   : "fewer replicates and shorter horizons than with --full",
      options.mutants ? "Wrong formulas were put in as well (--mutants)."
                      : "No wrong formulas were put in (--mutants does).",
      seconds);
}

std::string chapters_of(std::span<const Stop> tour) {
  std::string out;
  for (std::size_t i = 0; i < tour.size(); ++i) {
    const Chapter& chapter = *tour[i].chapter;
    out += fmt::format(
        "<section class=\"chapter\" id=\"chapter-{0}\">\n<h2>{0}. {1} <small>{2}</small></h2>\n"
        "<p>{3}</p>\n</section>\n",
        i + 1, cli::html_text(chapter.title), cli::html_text(chapter.place),
        lab::plot::formula_html(chapter.about));
    for (const Result* result : tour[i].results) out += claim_section(*result);
  }
  return out;
}

}  // namespace

void prepare_report(const std::string& folder) {
  lab::cli::make_folder(folder, "theory");
  lab::cli::make_folder(folder + "/figures", "theory");
}

void write_report(const std::string& folder, std::span<const Result> results,
                  const RunOptions& options) {
  const fs::path to = folder;
  for (const Result& result : results) {
    const auto& figures = result.findings.figures();
    for (std::size_t i = 0; i < figures.size(); ++i) {
      lab::cli::write_page((to / figure_file(*result.claim, i)).string(),
                           lab::plot::svg_of(figures[i]));
    }
  }
  lab::cli::write_page((to / "theory.json").string(), to_json(results, options).dump(1) + "\n");
  lab::cli::write_page((to / "theory.html").string(), report_page(results, options));
}

std::string report_page(std::span<const Result> results, const RunOptions& options) {
  const std::vector<Stop> tour = tour_of(results);
  const std::string style = fmt::format("{}{}{}", lab::report::page_css(), lab::plot::figure_css(),
                                        lab::theory::theory_css());
  return lab::cli::fill_template(lab::theory::theory_html(),
                                 {{"style", style},
                                  {"verdict", verdict_of(results)},
                                  {"contents", contents_list(tour)},
                                  {"summary", summary_table(tour)},
                                  {"chapters", chapters_of(tour)},
                                  {"run", how_it_was_run(results, options)},
                                  {"problems", problems_table()}});
}

}  // namespace bcos::lab::theory
