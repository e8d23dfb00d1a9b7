#include "lab/loop/train.hpp"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <chrono>
#include <cmath>
#include <limits>

#include "bcos/executor.hpp"
#include "bcos/target.hpp"
#include "engine/error.hpp"
#include "lab/data/random.hpp"
#include "lab/diagnosis/diagnosis.hpp"
#include "lab/loop/model_optimizer.hpp"
#include "lab/loop/task.hpp"
#include "lab/loop/torch_errors.hpp"
#include "lab/loop/weights.hpp"
#include "lab/models/gpt_file.hpp"
#include "lab/models/make.hpp"

namespace bcos::lab::loop {
namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr const char* kWeights = "model.safetensors";
constexpr const char* kOptimizer = "optimizer.safetensors";
constexpr const char* kDiagnosis = "diagnosis.safetensors";

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Dropout and stochastic depth are a function of seed, step and part, so that a resumed run needs
/// no other random state.
void seed_torch(std::uint64_t seed, std::uint64_t step, std::uint64_t part) {
  constexpr std::uint64_t kStream = 0x64726f706f7574;
  torch::manual_seed(data::Random(seed, kStream + part, step).next());
}

/// What a forward pass writes besides gradients: the averages of batch normalisation.
class Buffers {
 public:
  explicit Buffers(const torch::nn::Module& model) : live_(model.buffers()) {}
  void remember() {
    kept_.clear();
    for (const torch::Tensor& buffer : live_) kept_.push_back(buffer.clone());
  }
  void restore() {
    const torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < live_.size(); ++i) live_[i].copy_(kept_[i]);
  }

 private:
  std::vector<torch::Tensor> live_;
  std::vector<torch::Tensor> kept_;
};

std::shared_ptr<models::Model> new_model(const Task& task, const run::Settings& settings) {
  torch::manual_seed(settings.seed);
  std::shared_ptr<models::Model> model = models::make_model(task.model_options());
  if (!settings.init_from.empty()) models::load_gpt2(*model, settings.init_from);
  return model;
}

class Training : public run::Saver {
 public:
  Training(const TrainRequest& request, std::unique_ptr<Task> task)
      : request_(request),
        settings_(request.settings),
        task_(std::move(task)),
        model_(new_model(*task_, settings_)),
        optimizer_(*model_, settings_),
        schedule_(run::schedule_of(settings_, task_->steps())),
        buffers_(*model_) {
    if (!settings_.diagnose.empty()) look_at_it();
  }

  run::Outcome run();
  void save(bool best) override;
  void mark_best() override { request_.checkpoints->mark_best(done_); }

 private:
  run::RunFacts facts() const;
  void look_at_it();
  void resume();
  bool evaluate();
  std::optional<run::StepEvent> step();
  void tell_complaints();

  template <class Tell>
  void tell(Tell tell) {
    for (run::Observer* observer : request_.observers) tell(*observer);
  }

  const TrainRequest& request_;
  const run::Settings& settings_;
  std::unique_ptr<Task> task_;
  std::shared_ptr<models::Model> model_;
  ModelOptimizer optimizer_;
  Schedule schedule_;
  Buffers buffers_;
  std::unique_ptr<diagnosis::Diagnosis> diagnosis_;  // none unless asked for

  std::uint64_t done_ = 0;
  std::uint64_t bad_steps_ = 0;
  std::uint64_t bad_in_a_row_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
  std::optional<double> last_loss_;
};

run::RunFacts Training::facts() const {
  run::RunFacts facts;
  facts.name = request_.name;
  facts.directory = request_.directory;
  facts.model = settings_.model;
  facts.data = task_->described();
  facts.method = settings_.method;
  facts.target = name(default_target());
  facts.threads = at::get_num_threads();
  facts.parameters = static_cast<std::uint64_t>(models::count_parameters(*model_));
  facts.tensors = model_->parameters().size();
  facts.decayed_tensors = optimizer_.decayed_tensors();
  facts.state_bytes = optimizer_.state_bytes();
  facts.adamw_state_bytes = 2 * sizeof(float) * facts.parameters;
  facts.unit = task_->unit();
  facts.units_a_step = task_->units_a_step();
  facts.accumulation = task_->accumulation();
  facts.steps = task_->steps();
  facts.first_step = done_;
  facts.seed = settings_.seed;
  facts.lr = schedule_.alpha_max;
  facts.data_files = task_->facts().value("files", ordered_json::array());
  return facts;
}

void Training::look_at_it() {
  diagnosis::DiagnosisOptions options{.settings = settings_,
                                      .steps = task_->steps(),
                                      .data = task_->facts(),
                                      .directory = request_.directory,
                                      .tell = {},
                                      .notice = request_.notice};
  options.tell = [this](const run::DiagnosisEvent& event) {
    tell([&](run::Observer& observer) { observer.diagnosis(event); });
  };
  diagnosis_ = std::make_unique<diagnosis::Diagnosis>(options, optimizer_.tensors());
  optimizer_.set_taps(diagnosis_->taps());
}

void Training::save(bool best) {
  std::vector<run::NamedFileWriter> files = {
      {kWeights, [&](const std::string& path) { save_weights(*model_, path); }},
      {kOptimizer, [&](const std::string& path) { optimizer_.save(path); }},
  };
  std::uint64_t diagnosis_bytes = 0;
  if (diagnosis_) {
    files.push_back({kDiagnosis, [&](const std::string& path) { diagnosis_->save(path); }});
    diagnosis_bytes = diagnosis_->state_bytes();
  }
  ordered_json facts;
  facts["name"] = request_.name;
  facts["settings"] = run::to_toml(settings_);
  facts["bad_steps"] = bad_steps_;
  facts["bad_in_a_row"] = bad_in_a_row_;
  facts["best"] = std::isfinite(best_) ? ordered_json(best_) : ordered_json(nullptr);
  facts["loss"] = last_loss_ ? ordered_json(*last_loss_) : ordered_json(nullptr);
  facts["data"] = task_->facts();
  const std::uint64_t bytes =
      sizeof(float) * static_cast<std::uint64_t>(models::count_parameters(*model_)) +
      optimizer_.state_bytes() + diagnosis_bytes;
  request_.before_save();
  request_.checkpoints->save(done_, files, facts, best, bytes);
}

void Training::resume() {
  std::vector<std::string> complaints;
  const auto found = request_.checkpoints->latest(complaints);
  for (const std::string& complaint : complaints) request_.notice(complaint);
  if (!found) {
    if (complaints.empty()) {
      if (diagnosis_) diagnosis_->begin(0, {});
      return;
    }
    throw fail(ErrorCode::corrupt, "train",
               "expected a whole checkpoint in '{}' but all are damaged: --fresh begins again",
               request_.checkpoints->directory());
  }
  const ordered_json now = task_->facts();
  if (found->facts.value("data", now) != now) {
    throw fail(ErrorCode::mismatch, "train",
               "expected the data that '{}' was trained on but received other files or another "
               "vocabulary: use another --name",
               found->path);
  }
  load_weights(*model_, found->file(kWeights));
  optimizer_.load(found->file(kOptimizer));
  done_ = found->step;
  bad_steps_ = found->facts.value("bad_steps", std::uint64_t{0});
  bad_in_a_row_ = found->facts.value("bad_in_a_row", std::uint64_t{0});
  if (found->facts.contains("best") && found->facts["best"].is_number()) {
    best_ = found->facts["best"].get<double>();
  }
  if (done_ < task_->steps()) request_.notice(fmt::format("goes on from step {}", done_));
  if (diagnosis_) diagnosis_->begin(done_, found->file(kDiagnosis));
}

void Training::tell_complaints() {
  for (const std::string& complaint : task_->complaints()) request_.notice(complaint);
}

/// False if the run is to stop: what was evaluated so far is forgotten.
bool Training::evaluate() {
  const torch::NoGradGuard no_grad;
  const models::EvalMode eval(*model_);
  const std::optional<EvalResult> result = task_->evaluate(*model_, request_.stop_requested);
  tell_complaints();
  if (!result) return false;
  const bool best = result->loss < best_;
  if (best) best_ = result->loss;
  last_loss_ = result->loss;
  const run::EvalEvent event{done_, result->loss, result->accuracy, best};
  tell([&](run::Observer& observer) { observer.evaluation(event); });
  return true;
}

/// Nothing if the run is to stop: all is as it was before the step.
std::optional<run::StepEvent> Training::step() {
  const auto begin = Clock::now();
  run::StepEvent event;
  event.step = done_;
  event.lr = alpha_at(schedule_, done_);
  buffers_.remember();
  model_->zero_grad();
  const std::uint64_t parts = task_->accumulation();
  for (std::uint64_t part = 0; part < parts; ++part) {
    if (part > 0 && request_.stop_requested()) {
      buffers_.restore();
      return {};
    }
    seed_torch(settings_.seed, done_, part);
    torch::Tensor loss = task_->loss(*model_, done_, part);
    if (parts > 1) loss = loss / static_cast<double>(parts);
    event.loss += loss.item<double>();
    loss.backward();
  }
  tell_complaints();
  if (diagnosis_) diagnosis_->before_step();
  const auto before_update = Clock::now();
  event.bad = !std::isfinite(event.loss);
  if (!event.bad) {
    const StepReport report = optimizer_.step(event.lr);
    event.norm = report.norm;
    event.clipped = report.clipped;
    event.bad = report.skipped;
  }
  event.optimizer_ms = ms_since(before_update);
  if (diagnosis_) diagnosis_->after_step(done_, event.lr, event.bad);
  if (event.bad) {
    buffers_.restore();
    ++bad_steps_;
  }
  bad_in_a_row_ = event.bad ? bad_in_a_row_ + 1 : 0;
  event.bad_steps = bad_steps_;
  ++done_;
  event.ms = ms_since(begin);
  event.rate = 1e3 * static_cast<double>(task_->units_a_step()) / event.ms;
  return event;
}

run::Outcome Training::run() {
  resume();
  model_->train();
  const run::RunFacts run_facts = facts();
  tell([&](run::Observer& observer) { observer.begin(run_facts); });
  const std::uint64_t total = task_->steps();
  run::Outcome outcome = run::Outcome::finished;
  while (true) {
    const bool over = done_ >= total;
    const bool diverged = bad_in_a_row_ >= settings_.most_bad_steps;
    bool stopped = !diverged && request_.stop_requested();
    const bool due = over || done_ % settings_.eval_every == 0;
    if (due && !diverged && !stopped) stopped = !evaluate();
    const bool last = over || diverged || stopped;
    tell([&](run::Observer& observer) { observer.boundary(done_, last, *this); });
    if (diverged) outcome = run::Outcome::diverged;
    if (stopped) outcome = run::Outcome::interrupted;
    if (last) break;
    const std::optional<run::StepEvent> event = step();
    if (event) tell([&](run::Observer& observer) { observer.step(*event); });
  }
  if (diagnosis_ && outcome != run::Outcome::interrupted) diagnosis_->end();
  tell([&](run::Observer& observer) { observer.end(outcome, done_); });
  return outcome;
}

}  // namespace

run::Outcome train(const TrainRequest& request) {
  if (request.settings.threads > 0) {
    at::set_num_threads(static_cast<int>(request.settings.threads));
    set_default_threads(static_cast<int>(request.settings.threads));
  }
  return train_task(request, with_our_errors("train", [&] { return make_task(request.settings); }));
}

void check_start(const run::Settings& settings) {
  with_our_errors("train", [&] { new_model(*make_task(settings), settings); });
}

run::Outcome train_task(const TrainRequest& request, std::unique_ptr<Task> task) {
  return with_our_errors("train", [&] { return Training(request, std::move(task)).run(); });
}

}  // namespace bcos::lab::loop
