#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "engine/error.hpp"
#include "lab/cli/files.hpp"
#include "lab/cli/html.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/commands/commands.hpp"
#include "lab/report/page.hpp"
#include "lab/report/text.hpp"
#include "lab/report/words.hpp"
#include "lab/run/status.hpp"

namespace bcos::lab::commands {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> folders;
  std::string out;
};

bool is_run(const fs::path& folder) { return fs::exists(folder / "config.toml"); }

/// Folders of runs, each once, and what is said of those that are left out.
class Collected {
 public:
  void add(const fs::path& folder) {
    std::error_code failed;
    fs::path whole = fs::weakly_canonical(folder, failed);
    if (!seen_.insert(failed ? folder : whole).second) {
      cli::warn(fmt::format("'{}' is given twice and counts once", folder.string()));
      return;
    }
    runs.push_back(folder.string());
  }
  /// One of the folders in a folder of runs.
  void add_inside(const fs::path& folder) {
    if (is_run(folder) && !run::is_put_aside(folder.string())) add(folder);
  }

  std::vector<std::string> runs;

 private:
  std::set<fs::path> seen_;
};

/// A folder of a comparison stands for the runs in it.
std::vector<std::string> runs_of(const std::vector<std::string>& folders) {
  Collected collected;
  for (const std::string& folder : folders) {
    if (is_run(folder) || !fs::is_directory(folder)) {
      collected.add(folder);
      continue;
    }
    std::vector<fs::path> inside;
    for (const auto& entry : fs::directory_iterator(folder)) inside.push_back(entry.path());
    std::ranges::sort(inside);
    const std::size_t before = collected.runs.size();
    for (const fs::path& path : inside) collected.add_inside(path);
    if (collected.runs.size() == before) {
      throw fail(ErrorCode::io, "report", "expected a run, or a folder of runs, but '{}' has none",
                 folder);
    }
  }
  return collected.runs;
}

/// The seed that chose the rates of a comparison, as it left it in its folder.
report::ComparisonOptions options_in(const std::string& folder) {
  report::ComparisonOptions options;
  const std::string path = folder + "/" + kComparison;
  if (!fs::exists(path)) return options;
  const auto said = cli::parse_json(cli::read_text(path), path);
  if (said.contains("choosing_seed")) options.choosing_seed = said["choosing_seed"];
  return options;
}

void run(const Options& options) {
  std::vector<run::RunRecord> records;
  for (const std::string& folder : runs_of(options.folders)) {
    if (!is_run(folder)) run::read_run(folder);  // says what is missing
    run::state_of(folder, records.emplace_back());
  }
  const report::ComparisonOptions shown = options_in(options.folders.front());
  const bool one = records.size() == 1;
  const std::string page =
      options.out.empty() ? options.folders.front() + "/report.html" : options.out;
  const std::string title = fs::path(options.folders.front()).filename().string();
  cli::write_page(
      page, one ? report::run_page(records.front()) : report::compare_page(title, records, shown));
  if (one) {
    cli::print("{}\n", report::run_verdict(report::summarize(records.front())));
  } else {
    const report::Comparison comparison = report::compare_runs(records, shown);
    cli::print("{}\n{}\n", report::comparison_text(comparison),
               report::comparison_verdict(comparison));
  }
  cli::print("see {}\n", page);
}

}  // namespace

void add_report(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& app = program.add("report", "Draw the page of a run, or of several over each other",
                              {"bcos report runs/try1", "bcos report runs/demo --out demo.html",
                               "bcos report runs/try1 runs/try2 --out both.html"},
                              [options] { run(*options); });
  app.add_option("RUN", options->folders, "folders of runs, or of a comparison")
      ->type_name("")
      ->required();
  cli::add_text(app, "--out", "FILE", options->out, "the page (report.html in the first folder)");
}

}  // namespace bcos::lab::commands
