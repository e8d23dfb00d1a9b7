#include <fmt/format.h>

#include <chrono>

#include "lab/training/observers.hpp"
#include "lab/training/tensorboard.hpp"

/// Observers that write files.
namespace bcos::lab {
namespace {

using nlohmann::ordered_json;

double now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::finished:
      return "finished";
    case Outcome::interrupted:
      return "interrupted";
    case Outcome::diverged:
      return "diverged";
  }
  return "unknown";
}

/// Keys are those of llm.c's log where it has them.
class MetricsObserver : public Observer {
 public:
  MetricsObserver(RunDirectory& directory, std::string config)
      : directory_(directory), config_(std::move(config)) {}

  void begin(const RunFacts& facts) override {
    directory_.write_config(config_);
    facts_ = to_json(facts);
    facts_["started"] = now();
    facts_["outcome"] = "running";
    directory_.write_facts(facts_);
  }
  void step(const StepEvent& event) override {
    ordered_json line = {{"s", event.step}, {"trl", event.loss}, {"lr", event.lr}};
    line["norm"] = event.norm ? ordered_json(*event.norm) : ordered_json(nullptr);
    line["clipped"] = event.clipped;
    line["skipped"] = event.bad_steps;
    line["ms"] = event.ms;
    line["opt_ms"] = event.optimizer_ms;
    line["rate"] = event.rate;
    directory_.append_metrics(line);
  }
  void evaluation(const EvalEvent& event) override {
    ordered_json line = {{"s", event.step}, {"tel", event.loss}};
    if (event.accuracy) line["acc"] = *event.accuracy;
    directory_.append_metrics(line);
  }
  void diagnosis(const DiagnosisEvent& event) override {
    ordered_json line = {{"s", event.step}, {"kind", event.kind}, {"group", event.group}};
    for (const auto& [key, value] : event.values) {
      line[key] = value ? ordered_json(*value) : ordered_json(nullptr);
    }
    directory_.append_metrics(line);
  }
  void end(Outcome outcome, std::uint64_t steps) override {
    facts_["outcome"] = name_of(outcome);
    facts_["steps_done"] = steps;
    facts_["ended"] = now();
    directory_.write_facts(facts_);
  }

 private:
  RunDirectory& directory_;
  std::string config_;
  ordered_json facts_;
};

class TensorBoardObserver : public Observer {
 public:
  void begin(const RunFacts& facts) override { file_.emplace(facts.directory, facts.first_step); }
  void step(const StepEvent& event) override {
    const double time = now();
    file_->scalar(event.step, time, "train/loss", event.loss);
    file_->scalar(event.step, time, "train/lr", event.lr);
    if (event.norm) file_->scalar(event.step, time, "train/gradient_norm", *event.norm);
    file_->scalar(event.step, time, "time/step_ms", event.ms);
    file_->scalar(event.step, time, "time/optimizer_ms", event.optimizer_ms);
  }
  void evaluation(const EvalEvent& event) override {
    const double time = now();
    file_->scalar(event.step, time, "val/loss", event.loss);
    if (event.accuracy) file_->scalar(event.step, time, "val/accuracy", *event.accuracy);
    file_->flush();
  }
  void diagnosis(const DiagnosisEvent& event) override {
    const double time = now();
    for (const auto& [key, value] : event.values) {
      if (!value) continue;
      file_->scalar(event.step, time, fmt::format("{}_{}/{}", event.kind, event.group, key),
                    *value);
    }
  }
  void end(Outcome /*outcome*/, std::uint64_t /*steps*/) override { file_->flush(); }

 private:
  std::optional<EventFile> file_;
};

class CheckpointObserver : public Observer {
 public:
  explicit CheckpointObserver(std::uint64_t every) : every_(every) {}

  void begin(const RunFacts& facts) override { saved_ = facts.first_step; }
  void evaluation(const EvalEvent& event) override { best_ = event.best; }
  void boundary(std::uint64_t steps, bool last, Saver& saver) override {
    const bool due = steps > 0 && (last || best_ || steps % every_ == 0);
    if (due && steps != saved_) {
      saver.save(best_);
      saved_ = steps;
    } else if (due && best_) {
      saver.mark_best();
    }
    best_ = false;
  }

 private:
  std::uint64_t every_;
  std::uint64_t saved_ = 0;
  bool best_ = false;
};

}  // namespace

std::unique_ptr<Observer> metrics_observer(RunDirectory& directory, std::string config) {
  return std::make_unique<MetricsObserver>(directory, std::move(config));
}
std::unique_ptr<Observer> tensorboard_observer() { return std::make_unique<TensorBoardObserver>(); }
std::unique_ptr<Observer> checkpoint_observer(std::uint64_t every) {
  return std::make_unique<CheckpointObserver>(every);
}

}  // namespace bcos::lab
