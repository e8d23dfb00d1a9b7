#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>
#include <memory>

#include "bcos/executor.hpp"
#include "engine/error.hpp"
#include "lab/cells/grid.hpp"
#include "lab/cells/runner.hpp"
#include "lab/cli/files.hpp"
#include "lab/cli/html.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/usage.hpp"
#include "lab/commands/commands.hpp"
#include "lab/report/page.hpp"
#include "lab/report/text.hpp"
#include "lab/report/words.hpp"
#include "lab/run/flags.hpp"
#include "lab/run/place.hpp"
#include "lab/run/presets.hpp"

namespace bcos::lab::commands {
namespace {

constexpr std::string_view kWhere = "compare";
/// More cells are rather a mistake than a plan.
constexpr std::size_t kManyCells = 1000;

struct Options {
  run::SettingOptions settings;
  std::string methods;
  std::string lrs;
  std::string adamw_lrs;
  std::string seeds;
  std::vector<std::string> vary;
  std::string grow;
  std::optional<std::uint64_t> jobs;
  bool quiet = false;
  bool yes = false;
};

/// Numbers of an option; none if it was not given.
std::vector<double> numbers_of(std::string_view option, const std::string& text) {
  if (text.empty()) return {};
  const auto list = cli::list_of(text, cli::real_of);
  if (!list) throw cli::misuse(kWhere, "expected {} as a,b,c but received '{}'", option, text);
  return *list;
}

/// What a run's own file says of that run alone is not for all cells of a comparison.
run::Settings base_of(const Options& options, const run::Settings& preset) {
  run::Settings base = run::settings_of(options.settings);
  if (!run::is_of_a_run(options.settings)) return base;
  for (const char* key : {"name", "out", "method", "lr", "beta", "beta_v", "eps", "eps_root",
                          "start", "weight_decay", "decay_rate", "threads", "seed"}) {
    if (options.settings.given.contains(key)) continue;
    run::copy_field(base, preset, run::field_of(key));
  }
  return base;
}

std::vector<run::MethodEntry> methods_of(const std::string& given, const std::string& preset) {
  std::vector<run::MethodEntry> usual;
  if (!preset.empty()) {
    usual = run::method_entries(run::preset_of(preset).methods);
    for (run::MethodEntry& entry : usual) std::swap(entry.usual, entry.settings);
    if (given.empty()) return usual;
  }
  std::vector<run::MethodEntry> entries =
      run::method_entries(given.empty() ? "adamw,bcosw_c" : given);
  for (run::MethodEntry& entry : entries) {
    const auto known = std::ranges::find(usual, entry.method, &run::MethodEntry::method);
    if (known != usual.end()) entry.usual = known->usual;
  }
  return entries;
}

cells::Grid grid_of(const Options& options) {
  cells::Grid grid;
  const std::string preset = run::preset_named(options.settings);
  if (!preset.empty()) grid.preset = run::preset_of(preset).settings;
  grid.base = base_of(options, grid.preset);
  grid.methods = methods_of(options.methods, preset);
  grid.lrs = numbers_of("--lrs", options.lrs);
  grid.adamw_lrs = numbers_of("--adamw-lrs", options.adamw_lrs);
  for (const std::string& text : options.vary) grid.axes.push_back(cells::axis_of(text));
  if (!options.seeds.empty()) grid.seeds = cells::seeds_of(options.seeds);
  if (!options.grow.empty()) grid.growth.emplace();
  // The last digits depend on threads, and a cell must not depend on its company.
  if (grid.base.threads == 0) grid.base.threads = 1;
  return grid;
}

std::optional<double> final_loss(const run::Settings& cell) {
  run::RunRecord record;
  const run::State state = run::state_of(run::directory_of(cell), record);
  if (state.status == run::Status::diverged) return std::numeric_limits<double>::infinity();
  if (state.status != run::Status::finished) return {};
  return record.metrics.eval.back().loss;
}

/// What is there of the cells; those that have not begun have nothing to show.
std::vector<run::RunRecord> records_of(const std::vector<run::Settings>& cells) {
  std::vector<run::RunRecord> records;
  for (const run::Settings& cell : cells) {
    run::RunRecord record;
    if (run::state_of(run::directory_of(cell), record).status == run::Status::planned) continue;
    if (record.settings.empty() && record.state.status == run::Status::running) continue;
    records.push_back(std::move(record));
  }
  return records;
}

Error unfinished(const cells::Ran& ran, std::size_t cells) {
  const auto& [name, state] = ran.unfinished.front();
  return fail(kWhere, "expected every run to finish but {} of {} did not, first {} ({})",
              ran.unfinished.size(), cells, name, run::state_text(state));
}

void check_number(std::size_t cells, bool yes) {
  if (cells <= kManyCells || yes) return;
  throw cli::misuse(kWhere, "expected at most {} runs but received {}: --yes runs them", kManyCells,
                    cells);
}

void run(const Options& options) {
  cells::Grid grid = grid_of(options);
  const std::string name = !grid.base.name.empty()    ? grid.base.name
                           : grid.base.preset.empty() ? "compare"
                                                      : grid.base.preset;
  grid.base.out += "/" + name;
  grid.base.name.clear();
  if (std::filesystem::exists(run::config_of(grid.base.out))) {
    throw cli::misuse(kWhere,
                      "expected '{}' as a folder of runs but it is a run: give another "
                      "--name",
                      grid.base.out);
  }
  const cells::Plan plan = [&] { return cells::cells_of(grid, final_loss); };
  check_number(plan().size(), options.yes);

  report::ComparisonOptions shown;
  if (grid.growth) shown.choosing_seed = grid.growth->seed;
  const std::string page = grid.base.out + "/report.html";
  cells::RunnerOptions how;
  how.jobs = options.jobs.value_or(static_cast<std::uint64_t>(default_threads()));
  how.quiet = options.quiet;
  how.look = [&] {
    const std::vector<run::RunRecord> records = records_of(plan());
    if (!records.empty()) cli::write_page(page, report::compare_page(name, records, shown));
  };
  if (grid.growth) {
    cli::make_folder(grid.base.out, kWhere);
    cli::write_text(fmt::format("{}/{}", grid.base.out, kComparison),
                    fmt::format("{{\"choosing_seed\": {}}}\n", grid.growth->seed));
  }
  const cells::Ran ran = cells::run_cells(plan, how);
  if (ran.signal != 0) {
    if (!options.quiet) cli::print("saved; the same command goes on from here\n");
    throw cli::Ended{ran.signal == SIGINT ? cli::kInterrupted : cli::kFine, ""};
  }

  const std::vector<run::Settings> cells = plan();
  const std::vector<run::RunRecord> records = records_of(cells);
  // Runs that could not begin have nothing to show; their own messages said why.
  if (records.empty()) throw unfinished(ran, cells.size());
  const report::Comparison comparison = report::compare_runs(records, shown);
  if (!options.quiet) {
    cli::print("\n{}\n{}\nsee {}\n", report::comparison_text(comparison),
               report::comparison_verdict(comparison), page);
  }
  if (!ran.unfinished.empty()) throw unfinished(ran, cells.size());
}

}  // namespace

void add_compare(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& app = program.add(
      "compare", "Train the same model with several methods, settings and seeds",
      {"bcos compare --preset demo --seeds 0-2",
       "bcos compare --preset demo --methods bcosw_c --vary beta=0.8,0.9,0.95 --seeds 0-2",
       "bcos compare --preset demo --grow lr --seeds 1-5",
       "bcos compare --preset mlp-mnist --methods adamw,bcosw_c,bcosw_m --jobs 2"},
      [options] { run(*options); });
  cli::add_text(
      app, "--methods", "LIST", options->methods,
      "methods, each with settings of its own: adamw:beta_v=0.95,bcosw_c; or JSON, @FILE");
  app.add_option("--vary", options->vary, "a setting and its values, KEY=V,V; may be repeated")
      ->type_name("KEY=V,V");
  cli::add_choice(app, "--grow", options->grow, {"lr"},
                  "try rates on seed 0 until the best lies inside; the other seeds count");
  cli::add_text(app, "--lrs", "A,B", options->lrs,
                "peak learning rates, the same for every method");
  cli::add_text(app, "--adamw-lrs", "A,B", options->adamw_lrs,
                "AdamW's peaks; BCOS methods take a quarter of each");
  cli::add_text(app, "--seeds", "A,B", options->seeds, "seeds, also 1-5 (0)");
  cli::add_whole(app, "--jobs", options->jobs, "runs at a time, one thread each (all cores)", 1);
  app.add_flag("--yes", options->yes, "run more than a thousand runs");
  app.add_flag("-q,--quiet", options->quiet, "print nothing");
  const std::string_view varied[] = {"method", "lr", "seed"};
  run::add_setting_options(app, options->settings, varied);
}

}  // namespace bcos::lab::commands
