#include "lab/commands/train/run_training.hpp"

#include <fmt/format.h>

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
#include "lab/run/run_record.hpp"

namespace bcos::lab::commands {
namespace {

namespace fs = std::filesystem;

std::string config_of(const std::string& directory) { return directory + "/config.toml"; }

run::Settings settings_of(const std::string& directory) {
  const std::string path = config_of(directory);
  return run::settings_from_toml({}, cli::read_text(path), path);
}

/// Settings that train may not change; others may.
void check_same_settings(const run::Settings& now, const std::string& directory) {
  const run::Settings then = settings_of(directory);
  for (const run::Field& field : run::fields()) {
    const std::string before = run::text_of(then, field);
    const std::string after = run::text_of(now, field);
    if (before == after || field.role != run::Role::trains) continue;
    throw cli::misuse(
        "train",
        "expected {} = '{}' as in '{}' but received '{}': give another --name, or --fresh "
        "to begin again",
        field.key, before, config_of(directory), after);
  }
}

/// A folder of runs is no run.
void refuse_folder_of_runs(const std::string& directory) {
  if (!fs::is_directory(directory) || fs::exists(config_of(directory))) return;
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
  if (now.diagnose.empty() || now.diagnose == settings_of(directory).diagnose) return;
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
    cli::write_text(directory + "/" + kPutAside, "");
    fs::rename(directory, aside);
    return;
  }
}

/// Removes what a run that could not begin has made, and nothing else.
void remove_empty(const std::string& directory) {
  if (fs::exists(config_of(directory))) return;
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
  const std::vector<run::Observer*> list = pointers_to(observers);

  const cli::SignalWatch signals;
  loop::TrainRequest request;
  request.settings = settings;
  request.name = name_of(settings);
  request.directory = path;
  request.checkpoints = &checkpoints;
  request.observers = list;
  request.stop_requested = [&] { return signals.received() != 0 || closed; };
  request.before_save = [&] { directory.force_metrics(); };
  request.notice = notice;
  const run::Outcome outcome = loop::train(request);
  cli::write_page(path + "/report.html", report::run_page(run::read_run(path)));
  if (closed) throw cli::OutputClosed{};
  return {outcome, path, signals.received(), true};
}

}  // namespace

std::string name_of(const run::Settings& settings) {
  if (!settings.name.empty()) return settings.name;
  const std::string what = settings.preset.empty() ? settings.model : settings.preset;
  return fmt::format("{}-{}-lr{:g}-seed{}", what, settings.method, run::lr_of(settings),
                     settings.seed);
}

std::string directory_of(const run::Settings& settings) {
  return settings.out + "/" + name_of(settings);
}

bool has_begun(const run::Settings& settings) {
  return fs::exists(config_of(directory_of(settings)));
}

bool is_finished(const run::Settings& settings) {
  if (!has_begun(settings)) return false;
  const std::string directory = directory_of(settings);
  check_same_settings(settings, directory);
  const std::string path = directory + "/run.json";
  return fs::exists(path) &&
         cli::parse_json(cli::read_text(path), path).value("outcome", "") == "finished";
}

RunResult run_training(const run::Settings& settings, const RunOptions& options) {
  run::validate(settings);
  const std::string path = directory_of(settings);
  refuse_folder_of_runs(path);
  if (options.fresh) put_aside(path, settings);
  std::error_code ignored;
  const bool new_out = fs::create_directories(settings.out, ignored);
  std::optional<run::RunDirectory> directory = run::RunDirectory::open(
      path, options.resume ? run::Expected::a_run : run::Expected::anything);
  if (is_finished(settings)) {
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
