#include <fmt/format.h>

#include <chrono>
#include <limits>

#include "lab/run/observers.hpp"
#include "lab/run/tensorboard.hpp"

/// Observers that write files.
namespace bcos::lab::run {
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
  MetricsObserver(RunDirectory& directory, std::string config,
                  std::function<void(const std::string&)> notice)
      : directory_(directory), config_(std::move(config)), notice_(std::move(notice)) {}

  void begin(const RunFacts& facts) override {
    const ordered_json before = directory_.read_facts();
    directory_.write_config(config_);
    begun_ = now();
    facts_ = to_json(facts);
    if (before.contains("branched")) facts_["branched"] = before["branched"];
    facts_["numerics"] = numerics_after(before, facts);
    const bool goes_on = facts.first_step > 0;
    facts_["started"] = goes_on ? before.value("started", begun_) : begun_;
    facts_["seconds"] = goes_on ? before.value("seconds", 0.0) : 0.0;
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
    facts_["seconds"] = facts_["seconds"].get<double>() + now() - begun_;
    directory_.force_metrics();
    directory_.write_facts(facts_);
  }

 private:
  /// From which step on the run had which numerics.
  ordered_json numerics_after(const ordered_json& before, const RunFacts& facts) const {
    ordered_json list = before.value("numerics", ordered_json::array());
    if (facts.first_step == 0 || !list.is_array()) list = ordered_json::array();
    const ordered_json own = {{"threads", facts.threads}, {"device", facts.device}};
    if (!list.empty()) {
      ordered_json last = list.back();
      last.erase("step");
      if (last == own) return list;
      notice_(
          fmt::format("goes on with {} thread{} after {}: the last digits differ from those of "
                      "a run that always had the same number",
                      facts.threads, facts.threads == 1 ? "" : "s", last.value("threads", 0)));
    }
    ordered_json entry = {{"step", facts.first_step}};
    entry.update(own);
    list.push_back(std::move(entry));
    return list;
  }

  RunDirectory& directory_;
  std::string config_;
  std::function<void(const std::string&)> notice_;
  ordered_json facts_;
  double begun_ = 0;
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
  CheckpointObserver(std::uint64_t every, std::optional<double> best)
      : every_(every), best_(best.value_or(std::numeric_limits<double>::infinity())) {}

  void begin(const RunFacts& facts) override { saved_ = facts.first_step; }
  void evaluation(const EvalEvent& event) override { loss_ = event.loss; }
  void boundary(std::uint64_t steps, bool last, Saver& saver) override {
    if (steps > 0 && (last || steps % every_ == 0)) save(steps, saver);
    loss_.reset();
  }

 private:
  void save(std::uint64_t steps, Saver& saver) {
    const bool best = loss_ && *loss_ < best_;
    if (best) best_ = *loss_;
    if (steps != saved_) {
      saver.save(best);
    } else if (best) {
      saver.mark_best();
    }
    saved_ = steps;
  }

  std::uint64_t every_;
  double best_;  // of the saved ones
  std::uint64_t saved_ = 0;
  std::optional<double> loss_;  // of the weights as they are
};

}  // namespace

std::unique_ptr<Observer> metrics_observer(RunDirectory& directory, std::string config,
                                           std::function<void(const std::string&)> notice) {
  return std::make_unique<MetricsObserver>(directory, std::move(config), std::move(notice));
}
std::unique_ptr<Observer> tensorboard_observer() { return std::make_unique<TensorBoardObserver>(); }
std::unique_ptr<Observer> checkpoint_observer(std::uint64_t every, std::optional<double> best) {
  return std::make_unique<CheckpointObserver>(every, best);
}

}  // namespace bcos::lab::run
