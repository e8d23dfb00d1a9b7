#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <thread>

#include "bcos/executor.hpp"
#include "engine/error.hpp"
#include "lab/cells/grid.hpp"
#include "lab/cli/children.hpp"
#include "lab/cli/files.hpp"
#include "lab/cli/html.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/progress.hpp"
#include "lab/cli/signals.hpp"
#include "lab/cli/usage.hpp"
#include "lab/commands/commands.hpp"
#include "lab/commands/train/run_training.hpp"
#include "lab/report/page.hpp"
#include "lab/report/text.hpp"
#include "lab/report/words.hpp"
#include "lab/run/flags.hpp"
#include "lab/run/presets.hpp"

namespace bcos::lab::commands {
namespace {

namespace fs = std::filesystem;

struct Options {
  run::SettingOptions settings;
  std::string methods;
  std::string lrs;
  std::string adamw_lrs;
  std::string seeds;
  std::optional<std::uint64_t> jobs;
  bool quiet = false;
};

/// Numbers of an option; none if it was not given.
template <class Read>
auto numbers_of(std::string_view option, const std::string& text, Read read) {
  if (text.empty()) return typename decltype(cli::list_of(text, read))::value_type();
  const auto list = cli::list_of(text, read);
  if (!list) throw cli::misuse("compare", "expected {} as a,b,c but received '{}'", option, text);
  return *list;
}

cells::GridOptions grid_options_of(const Options& options, const run::Settings& base) {
  cells::GridOptions grid;
  if (!base.preset.empty()) grid.methods = run::preset_of(base.preset).methods;
  if (!options.methods.empty()) grid.methods = options.methods;
  grid.lrs = numbers_of("--lrs", options.lrs, cli::real_of);
  grid.adamw_lrs = numbers_of("--adamw-lrs", options.adamw_lrs, cli::real_of);
  if (!options.seeds.empty()) grid.seeds = numbers_of("--seeds", options.seeds, cli::whole_of);
  if (std::set(grid.seeds.begin(), grid.seeds.end()).size() < grid.seeds.size()) {
    throw cli::misuse("compare", "expected different seeds but received '{}'", options.seeds);
  }
  return grid;
}

std::string label_of(const run::Settings& cell) {
  return fmt::format("{}  lr {:g}  seed {}", cell.method, *cell.lr, cell.seed);
}

/// The step of the last line of a run's metrics, 0 if there is none yet.
std::uint64_t last_step(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return 0;
  constexpr std::streamoff kTail = 1024;
  file.seekg(std::max<std::streamoff>(0, static_cast<std::streamoff>(file.tellg()) - kTail));
  const std::string tail(std::istreambuf_iterator<char>(file), {});
  const std::size_t at = tail.rfind("{\"s\":");
  return at == std::string::npos ? 0 : std::strtoull(tail.c_str() + at + 5, nullptr, 10);
}

/// Runs the cells in processes of their own: one that fails does not take the others along.
class Runner {
 public:
  Runner(std::vector<run::Settings> cells, std::uint64_t jobs, bool quiet)
      : cells_(std::move(cells)), jobs_(jobs), quiet_(quiet) {}

  /// The cells that did not end well, with their codes.
  std::vector<std::pair<std::string, int>> run() {
    const cli::SignalWatch signals;
    // A run that has the terminal to itself draws its own bar.
    std::optional<cli::Progress> bar;
    if (jobs_ > 1 && !quiet_) bar.emplace(all_steps());
    while (true) {
      while (next_ < cells_.size() && running_.size() < jobs_ && signals.received() == 0) start();
      if (running_.empty()) break;
      if (signals.received() != 0 && !told_) {
        for (const Running& one : running_) one.child.send(signals.received());
        told_ = true;
      }
      reap();
      if (bar) bar->update(steps_done(), fmt::format("{} of {} runs", ended_, cells_.size()));
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    if (bar) bar->finish();
    if (signals.received() != 0) {
      if (!quiet_) cli::print("saved; the same command goes on from here\n");
      throw cli::Ended{signals.received() == SIGINT ? cli::kInterrupted : cli::kFine, ""};
    }
    return failed_;
  }

 private:
  struct Running {
    cli::Child child;
    std::size_t cell;
  };

  void say(std::size_t cell, std::string_view what) const {
    if (quiet_) return;
    cli::print("[{}/{}] {}{}\n", cell + 1, cells_.size(), label_of(cells_[cell]), what);
    cli::flush_out();
  }

  std::uint64_t all_steps() const {
    std::uint64_t steps = 0;
    for (const run::Settings& cell : cells_) steps += cell.steps;
    return steps;
  }

  /// Classifiers count epochs; then the bar counts runs as if they had `steps`.
  std::uint64_t steps_done() const {
    std::uint64_t steps = 0;
    for (std::size_t i = 0; i < next_; ++i) {
      const bool runs =
          std::ranges::any_of(running_, [&](const Running& r) { return r.cell == i; });
      if (!runs) {
        steps += cells_[i].steps;
      } else if (cells_[i].epochs == 0) {
        steps += std::min(cells_[i].steps, last_step(directory_of(cells_[i]) + "/metrics.jsonl"));
      }
    }
    return steps;
  }

  void start() {
    const std::size_t at = next_++;
    const run::Settings& cell = cells_[at];
    if (is_finished(cell)) {
      ++ended_;
      return say(at, "  (finished before)");
    }
    fs::create_directories(cell.out);
    const std::string config = fmt::format("{}/{}.toml", cell.out, cell.name);
    cli::write_text(config, run::to_toml(cell));
    std::vector<std::string> arguments = {"train", "--config", config, "--brief"};
    if (quiet_ || jobs_ > 1) arguments.emplace_back("--quiet");
    say(at, "");
    running_.push_back({cli::Child(arguments), at});
  }

  void reap() {
    for (std::size_t i = running_.size(); i-- > 0;) {
      const auto code = running_[i].child.ended();
      if (!code) continue;
      const std::size_t cell = running_[i].cell;
      ++ended_;
      if (*code != cli::kFine && !told_) failed_.emplace_back(cells_[cell].name, *code);
      if (jobs_ > 1)
        say(cell, *code == cli::kFine ? "  done" : fmt::format("  exit code {}", *code));
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  std::vector<run::Settings> cells_;
  std::uint64_t jobs_;
  bool quiet_;
  std::size_t next_ = 0;
  std::size_t ended_ = 0;
  bool told_ = false;
  std::vector<Running> running_;
  std::vector<std::pair<std::string, int>> failed_;
};

Error unfinished(const std::vector<std::pair<std::string, int>>& failed, std::size_t cells) {
  return fail("compare",
              "expected every run to finish but {} of {} did not, first {} (exit code {})",
              failed.size(), cells, failed.front().first, failed.front().second);
}

void run(const Options& options) {
  run::Settings base = run::settings_of(options.settings);
  const std::string name = !base.name.empty()    ? base.name
                           : base.preset.empty() ? "compare"
                                                 : base.preset;
  base.out += "/" + name;
  base.name.clear();
  const std::uint64_t jobs = options.jobs.value_or(1);
  if (base.threads == 0 && jobs > 1) {
    base.threads = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(default_threads()) / jobs);
  }
  const std::vector<run::Settings> cells = cells::grid_of(base, grid_options_of(options, base));
  const auto failed = Runner(cells, jobs, options.quiet).run();

  // A run that could not begin has nothing to show; its own message said why.
  std::vector<run::RunRecord> records;
  records.reserve(cells.size());
  for (const run::Settings& cell : cells) {
    if (has_begun(cell)) records.push_back(run::read_run(directory_of(cell)));
  }
  if (records.empty()) throw unfinished(failed, cells.size());
  const std::string page = base.out + "/report.html";
  cli::write_page(page, report::compare_page(name, records));
  const report::Comparison comparison = report::compare_runs(records);
  if (!options.quiet) {
    cli::print("\n{}\n{}\nsee {}\n", report::comparison_text(comparison),
               report::comparison_verdict(comparison), page);
  }
  if (!failed.empty()) throw unfinished(failed, cells.size());
}

}  // namespace

void add_compare(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  CLI::App& app =
      program.add("compare", "Train the same model with several methods, learning rates and seeds",
                  {"bcos compare --preset demo",
                   "bcos compare --preset demo --adamw-lrs 0.008,0.016,0.032 --seeds 0,1,2",
                   "bcos compare --preset mlp-mnist --methods adamw,bcosw_c,bcosw_m --jobs 2"},
                  [options] { run(*options); });
  cli::add_text(app, "--methods", "LIST", options->methods,
                "methods, each with settings of its own: adamw:beta_v=0.95,bcosw_c");
  cli::add_text(app, "--lrs", "A,B", options->lrs,
                "peak learning rates, the same for every method");
  cli::add_text(app, "--adamw-lrs", "A,B", options->adamw_lrs,
                "AdamW's peaks; BCOS methods take a quarter of each");
  cli::add_text(app, "--seeds", "A,B", options->seeds, "seeds (0)");
  cli::add_whole(app, "--jobs", options->jobs, "runs at a time (1)", 1);
  app.add_flag("-q,--quiet", options->quiet, "print nothing");
  const std::string_view varied[] = {"method", "lr", "seed"};
  run::add_setting_options(app, options->settings, varied);
}

}  // namespace bcos::lab::commands
