#include "lab/cells/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <thread>

#include "lab/cli/children.hpp"
#include "lab/cli/files.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/progress.hpp"
#include "lab/cli/signals.hpp"
#include "lab/cli/usage.hpp"
#include "lab/run/place.hpp"
#include "lab/run/recipe.hpp"

namespace bcos::lab::cells {
namespace {

namespace fs = std::filesystem;
using run::Settings;
using run::Status;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{50};
constexpr std::chrono::seconds kLookPause{20};

std::string label_of(const Settings& cell) {
  return fmt::format("{}  lr {:g}  seed {}", run::method_name(cell), run::lr_of(cell), cell.seed);
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

/// All folders that hold other runs than the cells that go by their names.
void refuse_conflicts(const std::vector<Settings>& cells) {
  std::string conflicts;
  for (const Settings& cell : cells) {
    const std::string path = run::directory_of(cell);
    if (!fs::exists(run::config_of(path))) continue;
    const std::string conflict = run::conflict_with(cell, path);
    if (!conflict.empty()) conflicts += (conflicts.empty() ? "" : "; ") + conflict;
  }
  if (conflicts.empty()) return;
  throw cli::misuse("compare", "{}: give another --name", conflicts);
}

class Runner {
 public:
  Runner(const Plan& plan, const RunnerOptions& options)
      : plan_(plan), options_(options), cells_(plan()) {
    refuse_conflicts(cells_);
    // A run that has the terminal to itself draws its own bar.
    if (options_.jobs > 1 && !options_.quiet) bar_.emplace(0);
  }

  Ran run() {
    const cli::SignalWatch signals;
    while (true) {
      const bool go = signals.received() == 0;
      while (go && running_.size() < options_.jobs && start_next()) {
      }
      if (running_.empty()) break;
      if (!go && !told_) {
        for (const Running& one : running_) one.child.send(SIGTERM);
        told_ = true;
      }
      reap();
      if (bar_) bar_->update(0, progress());
      if (Clock::now() >= look_) look();
      std::this_thread::sleep_for(kPause);
    }
    if (bar_) bar_->finish();
    options_.look();
    return {unfinished(), signals.received()};
  }

 private:
  struct Running {
    cli::Child child;
    Settings cell;
  };

  void say(const Settings& cell, std::string_view what) {
    if (options_.quiet) return;
    const std::string line =
        fmt::format("[{}/{}] {}{}", ended_ + running_.size(), cells_.size(), label_of(cell), what);
    if (bar_ && bar_->drawn()) return bar_->line(line);
    cli::print("{}\n", line);
    cli::flush_out();
  }

  std::string progress() const {
    double steps = static_cast<double>(ended_);
    for (const Running& one : running_) {
      const auto done =
          static_cast<double>(last_step(run::directory_of(one.cell) + "/metrics.jsonl"));
      if (one.cell.epochs == 0) steps += std::min(1.0, done / static_cast<double>(one.cell.steps));
    }
    return fmt::format("{} of {} runs, {:.0f} %", ended_, cells_.size(),
                       100 * steps / static_cast<double>(cells_.size()));
  }

  void look() {
    options_.look();
    look_ = Clock::now() + kLookPause;
  }

  /// Starts the next cell that is to be run; false if there is none now.
  bool start_next() {
    for (const Settings& cell : cells_) {
      if (!started_.insert(cell.name).second) continue;
      const run::State state = run::state_of(run::directory_of(cell));
      if (state.status == Status::finished) {
        ++ended_;
        say(cell, "  (finished before)");
        continue;
      }
      start(cell);
      return true;
    }
    return false;
  }

  void start(const Settings& cell) {
    cli::make_folder(cell.out, "compare");
    const std::string config = fmt::format("{}/{}.toml", cell.out, cell.name);
    cli::write_text(config, run::to_toml(cell));
    std::vector<std::string> arguments = {"train", "--config", config, "--brief"};
    if (options_.quiet || options_.jobs > 1) arguments.emplace_back("--quiet");
    running_.push_back({cli::Child(arguments), cell});
    say(cell, "");
  }

  void reap() {
    for (std::size_t i = running_.size(); i-- > 0;) {
      if (!running_[i].child.ended()) continue;
      const Settings cell = running_[i].cell;
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      ++ended_;
      if (options_.jobs > 1) say(cell, "  " + run::state_text(state_of(cell)));
      if (!told_) replan();
    }
  }

  void replan() {
    std::vector<Settings> next = plan_();
    std::vector<Settings> added;
    for (const Settings& cell : next) {
      if (!started_.contains(cell.name)) added.push_back(cell);
    }
    refuse_conflicts(added);
    cells_ = std::move(next);
  }

  static run::State state_of(const Settings& cell) {
    return run::state_of(run::directory_of(cell));
  }

  std::vector<std::pair<std::string, run::State>> unfinished() const {
    std::vector<std::pair<std::string, run::State>> list;
    for (const Settings& cell : cells_) {
      const run::State state = state_of(cell);
      if (state.status != Status::finished) list.emplace_back(cell.name, state);
    }
    return list;
  }

  const Plan& plan_;
  const RunnerOptions& options_;
  std::vector<Settings> cells_;
  std::set<std::string> started_;
  std::vector<Running> running_;
  std::size_t ended_ = 0;
  bool told_ = false;
  std::optional<cli::Progress> bar_;
  Clock::time_point look_ = Clock::now() + kLookPause;
};

}  // namespace

Ran run_cells(const Plan& plan, const RunnerOptions& options) {
  return Runner(plan, options).run();
}

}  // namespace bcos::lab::cells
