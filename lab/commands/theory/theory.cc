#include <algorithm>
#include <array>
#include <memory>

#include "lab/cli/human.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/progress.hpp"
#include "lab/cli/usage.hpp"
#include "lab/commands/commands.hpp"
#include "lab/commands/theory/parts.hpp"
#include "lab/theory/report.hpp"
#include "lab/theory/results.hpp"

namespace bcos::lab::commands {
namespace {

using theory::Claim;
using theory::Result;

struct Options {
  std::vector<std::string> ids;
  bool quick = false;
  bool full = false;
  bool mutants = false;
  bool verbose = false;
  std::string report;
};

constexpr std::array<std::string_view, 3> kOwnCommands = {"list", "estimators", "radius"};

std::vector<const theory::Claim*> chosen_claims(const std::vector<std::string>& ids) {
  std::vector<const theory::Claim*> chosen;
  if (ids.empty()) {
    for (const theory::Claim& claim : theory::claims()) chosen.push_back(&claim);
  }
  for (const std::string& id : ids) {
    chosen.push_back(cli::as_usage([&] { return &theory::claim_by_id(id, kOwnCommands); }));
  }
  return chosen;
}

int columns_of(const cli::Terminal& where) {
  constexpr int kMost = 120;  // lines that long are still read easily
  return where.present ? std::clamp(where.columns, 40, kMost) : theory::kColumns;
}

std::vector<theory::Result> run_all(const std::vector<const theory::Claim*>& claims,
                                    theory::RunOptions options) {
  std::vector<theory::Result> results;
  cli::Progress progress(claims.size());
  options.stage = [&](const theory::Claim& claim, const std::string& what) {
    progress.update(results.size(), fmt::format("{} {} {}", claim.id, claim.title, what));
  };
  for (const theory::Claim* claim : claims) results.push_back(theory::run_claim(*claim, options));
  progress.update(results.size(), "");
  progress.finish();
  return results;
}

void print_results(const Options& options, const std::vector<theory::Result>& results) {
  const int columns = columns_of(cli::terminal());
  cli::write_out(theory::results_table(results, columns));
  if (options.verbose) {
    for (const theory::Result& result : results) {
      cli::print("\n{}\n{}", result.claim->id, theory::checks_text(result, columns));
    }
  }
}

void run(const Options& options) {
  const auto claims = chosen_claims(options.ids);
  if (!options.report.empty()) theory::prepare_report(options.report);
  const theory::RunOptions how{.full = options.full, .mutants = options.mutants};
  const std::vector<theory::Result> results = run_all(claims, how);
  print_results(options, results);
  if (!options.report.empty()) theory::write_report(options.report, results, how);
  const auto failed =
      std::ranges::count_if(results, [](const theory::Result& r) { return !r.pass(); });
  if (failed == 0) cli::print("\nall {} claims hold\n", results.size());
  if (!options.report.empty()) cli::print("see {}/theory.html\n", cli::visible(options.report));
  if (options.mutants) {
    cli::print("\n{}", theory::mutants_text(results, columns_of(cli::terminal())));
  }
  if (failed > 0) {
    throw fail("theory", "expected every claim to hold but {} of {} did not", failed,
               results.size());
  }
}

void list() {
  const int columns = columns_of(cli::terminal());
  const auto paragraph = [&](const std::string& text) {
    for (const std::string& line : cli::wrapped(text, columns - 4)) cli::print("    {}\n", line);
  };
  for (const theory::Claim& claim : theory::claims()) {
    cli::print("{}  {} ({})\n", claim.id, claim.title, claim.name);
    paragraph(claim.statement);
    for (const std::string& erratum : claim.errata) paragraph(erratum);
    for (const std::string& mutant : claim.mutants) paragraph("mutant: " + mutant);
  }
}

}  // namespace

void add_theory(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& app =
      program.add("theory", "Check the claims of the paper by running them",
                  {"bcos theory", "bcos theory T5 T14 -v", "bcos theory --report theory",
                   "bcos theory --full --mutants", "bcos theory list"},
                  [options] { run(*options); });
  app.add_option("CLAIM", options->ids, "T1 to T24 (all)")->type_name("");
  app.add_flag("--full", options->full, "replicates and horizons of the specification: minutes");
  app.add_flag("--quick", options->quick, "fewer of them, within two minutes (the default)")
      ->excludes("--full");
  app.add_flag("--mutants", options->mutants,
               "also put wrong formulas into each claim, and tell which checks they break");
  app.add_flag("-v,--verbose", options->verbose, "every check of every claim");
  cli::add_text(app, "--report", "DIR", options->report,
                "write theory.html, theory.json and figures there");
  cli::add_threads(app);
  program.add("theory list", "What each claim says", {"bcos theory list"}, [] { list(); });
  add_theory_estimators(program);
  add_theory_radius(program);
}

}  // namespace bcos::lab::commands
