#include "lab/commands/train/run_training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>

#include "engine/error.hpp"
#include "lab/cli/files.hpp"
#include "lab/cli/html.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/signals.hpp"
#include "lab/cli/usage.hpp"
#include "lab/loop/train.hpp"
#include "lab/report/page.hpp"
#include "lab/run/place.hpp"
#include "lab/run/run_record.hpp"
#include "lab/run/status.hpp"

namespace bcos::lab::commands {
namespace {

namespace fs = std::filesystem;

/// Settings that train may not change; others may.
void check_same_settings(const run::Settings& now, const std::string& directory) {
  const std::string conflict = run::conflict_with(now, directory);
  if (conflict.empty()) return;
  throw cli::misuse("train", "{}: give another --name, or --fresh to begin again", conflict);
}

/// A folder of runs is no run.
void refuse_folder_of_runs(const std::string& directory) {
  if (!fs::is_directory(directory) || fs::exists(run::config_of(directory))) return;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (!fs::exists(entry.path() / "config.toml")) continue;
    throw cli::misuse(
        "train",
        "expected '{}' as the folder of one run but there are runs in it: give another "
        "--name",
        directory);
  }
}

/// A diagnosis is made while a run trains.
void refuse_late_diagnosis(const run::Settings& now, const std::string& directory) {
  if (now.diagnose.empty() || now.diagnose == run::settings_in(directory).diagnose) return;
  throw cli::misuse(
      "train",
      "expected a run that still trains to diagnose but '{}' is finished: give another "
      "--name, the same settings train the same weights",
      directory);
}

/// The run that is there goes to the first free "<name>.old-<k>", once it is sure that another can
/// begin.
void put_aside(const std::string& directory, const run::Settings& settings) {
  if (!fs::exists(directory)) return;
  loop::check_start(settings);
  const run::RunDirectory owned = run::RunDirectory::open(directory);
  for (int k = 1;; ++k) {
    const std::string aside = fmt::format("{}.old-{}", directory, k);
    if (fs::exists(aside)) continue;
    cli::write_text(directory + "/" + run::kPutAside, "");
    fs::rename(directory, aside);
    return;
  }
}

void draw_page(const std::string& directory) {
  run::RunRecord record;
  run::state_of(directory, record);
  cli::write_page(directory + "/report.html", report::run_page(record));
}

/// Removes what a run that could not begin has made, and nothing else.
void remove_empty(const std::string& directory) {
  if (fs::exists(run::config_of(directory))) return;
  std::error_code ignored;
  fs::remove(directory + "/checkpoints", ignored);
  fs::remove(directory + "/lock", ignored);
  fs::remove(directory, ignored);
}

/// The validation loss of the best checkpoint that a resumed run has.
std::optional<double> best_saved(const std::string& directory) {
  std::vector<std::string> ignored;
  const auto best = run::best_checkpoint(directory, ignored);
  if (!best || !best->facts.contains("loss") || !best->facts["loss"].is_number()) return {};
  return best->facts["loss"].get<double>();
}

/// Tells another observer until nobody reads what it prints; then the run is to be saved and ended.
class UntilClosed : public run::Observer {
 public:
  UntilClosed(std::unique_ptr<run::Observer> to, bool& closed)
      : to_(std::move(to)), closed_(closed) {}
  void begin(const run::RunFacts& facts) override {
    tell([&] { to_->begin(facts); });
  }
  void step(const run::StepEvent& event) override {
    tell([&] { to_->step(event); });
  }
  void evaluation(const run::EvalEvent& event) override {
    tell([&] { to_->evaluation(event); });
  }
  void end(run::Outcome outcome, std::uint64_t steps) override {
    tell([&] { to_->end(outcome, steps); });
  }

 private:
  template <class Tell>
  void tell(Tell say) {
    if (closed_) return;
    try {
      say();
    } catch (const cli::OutputClosed&) {
      closed_ = true;
    }
  }

  std::unique_ptr<run::Observer> to_;
  bool& closed_;
};

/// Draws the run's page now and then while it trains, so that it can be looked at from the first
/// minute; drawing takes at most a twentieth of the time.
class PageObserver : public run::Observer {
 public:
  explicit PageObserver(std::string directory) : directory_(std::move(directory)) {}
  void step(const run::StepEvent& /*event*/) override {
    if (Clock::now() >= due_) draw();
  }
  void evaluation(const run::EvalEvent& event) override {
    if (event.step == 0) draw();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kPause{30};
  static constexpr int kShare = 20;

  void draw() {
    const auto begin = Clock::now();
    draw_page(directory_);
    due_ = Clock::now() + std::max<Clock::duration>(kPause, kShare * (Clock::now() - begin));
  }

  std::string directory_;
  Clock::time_point due_ = Clock::now() + kPause;
};

std::vector<run::Observer*> pointers_to(
    const std::vector<std::unique_ptr<run::Observer>>& observers) {
  std::vector<run::Observer*> list;
  list.reserve(observers.size());
  for (const auto& observer : observers) list.push_back(observer.get());
  return list;
}

RunResult train_in(run::RunDirectory& directory, const run::Settings& settings,
                   const RunOptions& options) {
  const std::string& path = directory.path();
  run::CheckpointStore checkpoints(path + "/checkpoints", static_cast<int>(settings.keep));
  const std::uint64_t every =
      settings.checkpoint_every > 0 ? settings.checkpoint_every : settings.eval_every;
  bool closed = false;
  const auto notice = [&](const std::string& text) {
    if (options.voice == run::Voice::quiet || closed) return;
    try {
      cli::print("{}\n", cli::visible(text));
    } catch (const cli::OutputClosed&) {
      closed = true;
    }
  };
  std::vector<std::unique_ptr<run::Observer>> observers;
  observers.push_back(run::metrics_observer(directory, run::to_toml(settings), notice));
  observers.push_back(run::tensorboard_observer());
  observers.push_back(std::make_unique<UntilClosed>(
      run::console_observer(options.voice, settings.log_every), closed));
  observers.push_back(run::checkpoint_observer(every, best_saved(checkpoints.directory())));
  observers.push_back(std::make_unique<PageObserver>(path));
  const std::vector<run::Observer*> list = pointers_to(observers);

  const cli::SignalWatch signals;
  loop::TrainRequest request;
  request.settings = settings;
  request.name = run::name_of(settings);
  request.directory = path;
  request.checkpoints = &checkpoints;
  request.observers = list;
  request.stop_requested = [&] { return signals.received() != 0 || closed; };
  request.before_save = [&] { directory.force_metrics(); };
  request.notice = notice;
  const run::Outcome outcome = loop::train(request);
  draw_page(path);
  if (closed) throw cli::OutputClosed{};
  return {outcome, path, signals.received(), true};
}

}  // namespace

namespace {

/// Whether it has come to its end, and no more steps are asked for.
bool is_finished(const run::Settings& settings, const std::string& path) {
  if (!fs::exists(run::config_of(path))) return false;
  check_same_settings(settings, path);
  const run::State state = run::state_of(path);
  return state.status == run::Status::finished &&
         (settings.epochs > 0 || settings.steps == state.steps);
}

}  // namespace

RunResult run_training(const run::Settings& settings, const RunOptions& options) {
  run::validate(settings);
  const std::string path = run::directory_of(settings);
  refuse_folder_of_runs(path);
  if (options.fresh) put_aside(path, settings);
  std::error_code ignored;
  const bool new_out = fs::create_directories(settings.out, ignored);
  std::optional<run::RunDirectory> directory = run::RunDirectory::open(
      path, options.resume ? run::Expected::a_run : run::Expected::anything);
  if (is_finished(settings, path)) {
    refuse_late_diagnosis(settings, path);
    return {run::Outcome::finished, path, 0, false};
  }
  try {
    return train_in(*directory, settings, options);
  } catch (...) {
    directory.reset();
    remove_empty(path);
    if (new_out) fs::remove(settings.out, ignored);  // if it is empty
    throw;
  }
}

}  // namespace bcos::lab::commands
