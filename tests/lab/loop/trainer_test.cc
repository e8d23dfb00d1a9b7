#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <tuple>

#include "bcos/executor.hpp"
#include "engine/error.hpp"
#include "lab/data/batches.hpp"
#include "lab/loop/model_optimizer.hpp"
#include "lab/loop/task.hpp"
#include "lab/loop/train.hpp"
#include "lab/loop/weights.hpp"
#include "lab/models/make.hpp"
#include "tests/engine/expect_error.hpp"
#include "tests/engine/safetensors/support.hpp"
#include "tests/scratch.hpp"

namespace bcos::lab::loop {
namespace {

namespace fs = std::filesystem;
using bcos::testing::error_of;

std::string bytes_of_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

struct Log : run::Observer {
  std::vector<double> losses;
  std::vector<double> rates;
  std::vector<run::EvalEvent> evaluations;
  std::uint64_t bad_steps = 0;
  /// Kind, group and step, and what was found there.
  std::map<std::tuple<std::string, std::string, std::uint64_t>,
           std::map<std::string, std::optional<double>>>
      diagnoses;
  void diagnosis(const run::DiagnosisEvent& event) override {
    auto& values = diagnoses[{event.kind, event.group, event.step}];
    for (const auto& [key, value] : event.values) values[key] = value;
  }
  void step(const run::StepEvent& event) override {
    losses.push_back(event.loss);
    rates.push_back(event.lr);
    bad_steps = event.bad_steps;
  }
  void evaluation(const run::EvalEvent& event) override { evaluations.push_back(event); }
};

bool go_on() { return false; }
const std::function<bool()> kGoOn = go_on;

struct SaveAtTheEnd : run::Observer {
  void boundary(std::uint64_t steps, bool last, run::Saver& saver) override {
    if (last && steps > 0) saver.save(false);
  }
};

class Training : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = bcos::testing::scratch_path("trainer");
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::ofstream text(folder_ / "text.txt");
    for (int i = 0; i < 400; ++i) text << "step " << i * i % 97 << " of a walk\n";
  }
  void TearDown() override { fs::remove_all(folder_); }

  run::Settings gpt() const {
    run::Settings s;
    s.data = (folder_ / "text.txt").string();
    s.format = "bytes";
    s.layers = 2;
    s.width = 16;
    s.heads = 2;
    s.context = 16;
    s.batch = 4;
    s.steps = 40;
    s.warmup = 8;
    s.eval_every = 10;
    s.eval_batches = 2;
    return s;
  }

  /// CIFAR-10's layout with random pixels.
  run::Settings images(const std::string& model) const {
    const fs::path data = folder_ / "cifar";
    fs::create_directories(data);
    for (const char* name : {"data_batch_1.bin", "test_batch.bin"}) {
      std::ofstream file(data / name, std::ios::binary);
      std::uint32_t state = 1;
      for (int i = 0; i < 60; ++i) {
        file.put(static_cast<char>(i % 10));
        for (int k = 0; k < 3072; ++k) {
          state = state * 1664525U + 1013904223U;
          file.put(static_cast<char>(state >> 24U));
        }
      }
    }
    run::Settings s;
    s.data = data.string();
    s.model = model;
    s.depth = 8;
    s.hidden = {8};
    s.batch = 8;
    s.steps = 12;
    s.eval_every = 6;
    s.eval_batches = 1;
    return s;
  }

  /// Trains in a folder of this name; stops after `stop_at` steps if that is not 0.
  run::Outcome train_in(const std::string& name, const run::Settings& settings,
                        std::uint64_t stop_at = 0, Log* log = nullptr) {
    const std::string directory = (folder_ / name).string();
    fs::create_directories(directory);
    run::CheckpointStore store(directory + "/checkpoints", 2);
    SaveAtTheEnd saver;
    Log own;
    Log& used = log == nullptr ? own : *log;
    run::Observer* const observers[] = {&used, &saver};
    TrainRequest request;
    request.settings = settings;
    request.name = name;
    request.directory = directory;
    request.checkpoints = &store;
    request.observers = observers;
    const std::size_t before = used.losses.size();
    request.stop_requested = [&] { return stop_at > 0 && used.losses.size() - before >= stop_at; };
    return train(request);
  }

  std::string final_files(const std::string& name) const {
    std::vector<std::string> complaints;
    const auto found =
        run::latest_checkpoint((folder_ / name / "checkpoints").string(), complaints);
    if (!found) return {};
    return bytes_of_file(found->file("model.safetensors")) +
           bytes_of_file(found->file("optimizer.safetensors"));
  }

  /// Everything that a run has at its end but the number of steps that were skipped.
  std::map<std::string, std::string> state_of(const std::string& name) const {
    std::vector<std::string> complaints;
    const auto found =
        run::latest_checkpoint((folder_ / name / "checkpoints").string(), complaints);
    if (!found) return {};
    std::map<std::string, std::string> state;
    for (const char* part : {"model.safetensors", "optimizer.safetensors"}) {
      const auto file = safetensors::File::open(found->file(part));
      for (const auto& [key, value] : file.metadata()) state[part + key] = value;
      for (const auto& tensor : file.tensors()) {
        const std::vector<std::byte> bytes = safetensors::read_all(file, tensor);
        state[part + tensor.name] = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
      }
    }
    EXPECT_EQ(state.erase("optimizer.safetensorsskipped_steps"), 1U);
    return state;
  }

  /// Stops at every step that there is.
  void expect_resumed_equals_whole(const run::Settings& settings) {
    Log whole;
    ASSERT_EQ(train_in("whole", settings, 0, &whole), run::Outcome::finished);
    Log parts;
    for (std::uint64_t step = 1; step < settings.steps; ++step) {
      ASSERT_EQ(train_in("parts", settings, 1, &parts), run::Outcome::interrupted) << step;
    }
    ASSERT_EQ(train_in("parts", settings, 0, &parts), run::Outcome::finished);
    EXPECT_EQ(whole.losses, parts.losses);
    const std::string files = final_files("whole");
    ASSERT_FALSE(files.empty());
    EXPECT_TRUE(files == final_files("parts"));
  }

  /// A run with a task of one's own, saved at its end; stops after `stop_at` steps if not 0.
  run::Outcome train_task_in(const std::string& name, const run::Settings& settings,
                             std::unique_ptr<Task> task, Log& log, std::uint64_t stop_at = 0) {
    const std::string directory = (folder_ / name).string();
    fs::create_directories(directory);
    run::CheckpointStore store(directory + "/checkpoints", 2);
    SaveAtTheEnd saver;
    run::Observer* const observers[] = {&log, &saver};
    TrainRequest request{settings, name, directory, &store, observers};
    request.stop_requested = [&] { return stop_at > 0 && log.losses.size() >= stop_at; };
    return train_task(request, std::move(task));
  }

  fs::path folder_;
};

TEST_F(Training, OfAGptWithDropoutResumesBitForBit) {
  run::Settings settings = gpt();
  settings.dropout = 0.2;
  expect_resumed_equals_whole(settings);
}

TEST_F(Training, WithAccumulationResumesBitForBit) {
  run::Settings settings = gpt();
  settings.total_batch = 3 * 4 * 16;
  settings.dropout = 0.1;
  settings.positions = "rotary";
  settings.steps = 12;
  settings.warmup = 0;
  settings.method = "adamw";
  expect_resumed_equals_whole(settings);
}

TEST_F(Training, TakesEachStepAtItsRateOfTheSchedule) {
  run::Settings settings = gpt();
  settings.lr = 0.8;
  settings.schedule = "linear";
  settings.steps = 12;
  Log log;
  ASSERT_EQ(train_in("run", settings, 0, &log), run::Outcome::finished);
  const Schedule schedule = run::schedule_of(settings, settings.steps);
  ASSERT_EQ(log.rates.size(), 12U);
  for (std::uint64_t t = 0; t < 12; ++t) EXPECT_EQ(log.rates[t], alpha_at(schedule, t)) << t;
  EXPECT_EQ(log.rates[0], 0.1);
  EXPECT_GT(log.rates[8], log.rates[9]);
}

/// A model that knows nothing has a loss of log 256 a byte.
TEST_F(Training, WithAccumulationReportsTheMeanOfItsParts) {
  run::Settings settings = gpt();
  settings.steps = 1;
  settings.warmup = 0;
  for (const std::uint64_t parts : {1U, 2U, 3U}) {
    settings.total_batch = parts * 4 * 16;
    Log log;
    ASSERT_EQ(train_in(std::to_string(parts), settings, 0, &log), run::Outcome::finished);
    EXPECT_NEAR(log.losses.at(0), std::log(256.0), 0.2) << parts;
  }
}

TEST_F(Training, OfAResNetWithAugmentationResumesBitForBit) {
  expect_resumed_equals_whole(images("resnet"));
}

TEST_F(Training, OfAViTTrainedAsDeiTResumesBitForBit) {
  run::Settings settings = images("vit");
  settings.smallest_crop = 0.3;
  settings.erase = 0.5;
  settings.mixup = 0.8;
  settings.cutmix = 1;
  settings.patch = 8;
  settings.layers = 2;
  settings.width = 16;
  settings.heads = 2;
  settings.drop_path = 0.3;
  settings.dropout = 0.1;
  settings.label_smoothing = 0.1;
  settings.method = "bcosw_m";
  expect_resumed_equals_whole(settings);
}

TEST_F(Training, IsNotChangedByADiagnosis) {
  for (const char* method : {"bcosw_c", "adamw", "bcosw_g"}) {
    run::Settings settings = gpt();
    settings.method = method;
    settings.dropout = 0.1;
    const std::string name = method;
    Log plain;
    ASSERT_EQ(train_in(name + "-plain", settings, 0, &plain), run::Outcome::finished);
    settings.diagnose = "aiming,signal";
    settings.diagnose_every = 7;
    Log log;
    ASSERT_EQ(train_in(name + "-looked-at", settings, 0, &log), run::Outcome::finished);
    EXPECT_EQ(plain.losses, log.losses);
    EXPECT_TRUE(final_files(name + "-plain") == final_files(name + "-looked-at"));
    EXPECT_TRUE(plain.diagnoses.empty());
    for (const char* group : {"all", "embeddings", "attention", "mlp", "vectors"}) {
      for (const std::uint64_t step : {0U, 7U, 35U}) {
        EXPECT_TRUE(log.diagnoses.contains({"aiming", group, step})) << group << step;
        EXPECT_TRUE(log.diagnoses.contains({"signal", group, step})) << group << step;
      }
    }
  }
}

TEST_F(Training, IsDiagnosedTheSameWhenItIsResumed) {
  run::Settings settings = gpt();
  settings.diagnose = "aiming,signal";
  settings.diagnose_every = 3;
  Log whole;
  ASSERT_EQ(train_in("whole", settings, 0, &whole), run::Outcome::finished);
  Log parts;
  ASSERT_EQ(train_in("parts", settings, 10, &parts), run::Outcome::interrupted);
  EXPECT_TRUE(fs::exists(folder_ / "parts/diagnosis"));
  EXPECT_FALSE(parts.diagnoses.contains({"aiming", "all", 0})) << "its end is not known";
  ASSERT_EQ(train_in("parts", settings, 13, &parts), run::Outcome::interrupted);
  ASSERT_EQ(train_in("parts", settings, 0, &parts), run::Outcome::finished);
  EXPECT_FALSE(fs::exists(folder_ / "parts/diagnosis"));
  EXPECT_EQ(whole.diagnoses, parts.diagnoses);
  EXPECT_TRUE(final_files("whole") == final_files("parts"));
}

TEST_F(Training, KnowsWhatEveryTensorOfEveryModelIsFor) {
  for (const char* kind : {"gpt", "resnet", "vit", "mlp"}) {
    run::Settings settings = std::string(kind) == "gpt" ? gpt() : images(kind);
    settings.tied = false;
    settings.patch = 8;
    settings.layers = 1;
    settings.width = 16;
    const auto model = models::make_model(make_task(settings)->model_options());
    for (const diagnosis::DiagnosedTensor& tensor : ModelOptimizer(*model, settings).tensors()) {
      EXPECT_NE(tensor.group, "other") << kind << ' ' << tensor.name;
    }
  }
}

TEST_F(Training, IsTheSameTwice) {
  Log one;
  Log two;
  ASSERT_EQ(train_in("one", gpt(), 0, &one), run::Outcome::finished);
  ASSERT_EQ(train_in("two", gpt(), 0, &two), run::Outcome::finished);
  EXPECT_EQ(one.losses, two.losses);
  EXPECT_EQ(final_files("one"), final_files("two"));
  run::Settings other = gpt();
  other.seed = 1;
  Log three;
  train_in("three", other, 0, &three);
  EXPECT_NE(one.losses, three.losses);
}

TEST_F(Training, EvaluatesAtTheFirstTheLastAndEveryStepBetween) {
  run::Settings settings = gpt();
  settings.steps = 25;
  settings.lr = 0.02;
  Log log;
  train_in("run", settings, 0, &log);
  std::vector<std::uint64_t> steps;
  for (const run::EvalEvent& event : log.evaluations) steps.push_back(event.step);
  EXPECT_EQ(steps, (std::vector<std::uint64_t>{0, 10, 20, 25}));
  EXPECT_NEAR(log.evaluations.front().loss, std::log(256.0), 0.1);
  EXPECT_LT(log.evaluations.back().loss, 4.0);
}

TEST_F(Training, OfClassifiersReportsTheirAccuracy) {
  run::Settings settings = images("mlp");
  Log log;
  train_in("run", settings, 0, &log);
  ASSERT_TRUE(log.evaluations.back().accuracy);
  EXPECT_GE(*log.evaluations.back().accuracy, 0);
  EXPECT_LE(*log.evaluations.back().accuracy, 1);
}

/// 60 images in batches of 8 leave 4 for the last one.
TEST_F(Training, WeighsTheLastEvaluationBatchByItsImages) {
  run::Settings settings = images("mlp");
  settings.eval_batches = 0;
  const auto task = make_task(settings);
  settings.batch = 60;
  const auto at_once = make_task(settings);
  const auto model = models::make_model(task->model_options());
  const torch::NoGradGuard no_grad;
  const EvalResult whole = at_once->evaluate(*model, kGoOn).value();
  const EvalResult parts = task->evaluate(*model, kGoOn).value();
  EXPECT_NEAR(parts.loss, whole.loss, 1e-6);
  EXPECT_NEAR(*parts.accuracy, *whole.accuracy, 1e-12);
}

TEST_F(Training, WeighsTheLastEvaluationBatchByItsRows) {
  run::Settings settings = gpt();
  settings.eval_batches = 0;
  const auto one_by_one = [&] {
    settings.batch = 1;
    return make_task(settings);
  }();
  settings.batch = 64;
  const auto task = make_task(settings);
  const auto model = models::make_model(task->model_options());
  const torch::NoGradGuard no_grad;
  EXPECT_NEAR(task->evaluate(*model, kGoOn)->loss, one_by_one->evaluate(*model, kGoOn)->loss, 1e-6);
}

/// Labels as rows of probabilities, those of a row and of the row as far from the end.
torch::Tensor soft_labels(const data::ImageBatch& batch, int classes, double smoothing) {
  const torch::Tensor own = torch::one_hot(torch::tensor(batch.labels), classes).to(torch::kFloat);
  const torch::Tensor mixed = batch.share * own + (1 - batch.share) * own.flip(0);
  return (1 - smoothing) * mixed + smoothing / classes;
}

TEST_F(Training, OfMixedImagesHasTheLossOfMixedLabels) {
  run::Settings settings = images("mlp");
  settings.batch = 7;
  settings.total_batch = 14;
  settings.label_smoothing = 0.1;
  settings.mixup = 0.8;
  settings.cutmix = 1;
  const auto task = make_task(settings);
  const auto model = models::make_model(task->model_options());
  const data::ImageData data = data::open_images({.data = settings.data});
  const data::ImageBatches batches(*data.train, 7, settings.seed, augment_of(settings), data.mean,
                                   data.std, 2);
  for (const std::uint64_t step : {0U, 1U, 2U, 5U}) {
    for (const std::uint64_t part : {0U, 1U}) {
      data::ImageBatch batch;
      batches.fill(step, part, batch);
      ASSERT_NE(batch.share, 1);
      const torch::Tensor pixels = torch::tensor(batch.images).view({7, 3, 32, 32});
      const torch::Tensor expected =
          -(soft_labels(batch, 10, 0.1) * torch::log_softmax(model->forward(pixels), 1))
               .sum(1)
               .mean();
      EXPECT_NEAR(task->loss(*model, step, part).item<double>(), expected.item<double>(), 1e-5);
    }
  }
}

TEST_F(Training, LearnsARepeatingText) {
  std::ofstream text(folder_ / "text.txt");
  for (int i = 0; i < 2000; ++i) text << "abcdefgh";
  text.close();
  run::Settings settings = gpt();
  settings.steps = 150;
  settings.lr = 0.01;
  Log log;
  train_in("run", settings, 0, &log);
  EXPECT_LT(log.evaluations.back().loss, 0.05);
}

TEST_F(Training, OnOtherDataIsNotResumed) {
  run::Settings settings = gpt();
  train_in("run", settings, 5);
  std::ofstream(folder_ / "text.txt", std::ios::app) << "more";
  EXPECT_NE(error_of([&] { train_in("run", settings); }).find("expected the data"),
            std::string::npos);
}

/// Where the NaN of a poisoned step is.
enum class Poison { loss, gradient };

/// Gives NaN at chosen steps.
class PoisonedTask : public Task {
 public:
  PoisonedTask(const run::Settings& settings, Poison poison, std::uint64_t from, std::uint64_t to)
      : task_(make_task(settings)), poison_(poison), from_(from), to_(to) {}
  std::string described() const override { return task_->described(); }
  std::string_view unit() const override { return task_->unit(); }
  models::ModelOptions model_options() const override { return task_->model_options(); }
  std::uint64_t steps() const override { return task_->steps(); }
  std::uint64_t accumulation() const override { return task_->accumulation(); }
  std::uint64_t units_a_step() const override { return task_->units_a_step(); }
  torch::Tensor loss(models::Model& model, std::uint64_t step, std::uint64_t part) override {
    const torch::Tensor loss = task_->loss(model, step, part);
    if (step < from_ || step >= to_) return loss;
    // The root of 0 is finite and its slope is not.
    if (poison_ == Poison::gradient) {
      return loss + torch::sqrt(0 * model.parameters().front().sum());
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (torch::Tensor& buffer : model.buffers()) {
      if (buffer.is_floating_point()) buffer.variable_data().fill_(nan);
    }
    return loss * nan;
  }
  std::optional<EvalResult> evaluate(models::Model& model,
                                     const std::function<bool()>& stopped) override {
    return task_->evaluate(model, stopped);
  }
  nlohmann::ordered_json facts() const override { return task_->facts(); }

 private:
  std::unique_ptr<Task> task_;
  Poison poison_;
  std::uint64_t from_;
  std::uint64_t to_;
};

/// Evaluates to what it is told, one after another.
class ScriptedTask : public PoisonedTask {
 public:
  ScriptedTask(const run::Settings& settings, std::vector<double> losses)
      : PoisonedTask(settings, Poison::loss, 0, 0), losses_(std::move(losses)) {}
  std::optional<EvalResult> evaluate(models::Model&, const std::function<bool()>&) override {
    return EvalResult{losses_.at(next_++), std::nullopt};
  }

 private:
  std::vector<double> losses_;
  std::size_t next_ = 0;
};

TEST_F(Training, KnowsItsBestLossAfterAResume) {
  const run::Settings settings = gpt();
  Log log;
  auto first = std::make_unique<ScriptedTask>(settings, std::vector{3.0, 1.0});
  ASSERT_EQ(train_task_in("run", settings, std::move(first), log, 13), run::Outcome::interrupted);
  auto rest = std::make_unique<ScriptedTask>(settings, std::vector{2.0, 2.5, 0.5});
  ASSERT_EQ(train_task_in("run", settings, std::move(rest), log), run::Outcome::finished);
  std::vector<bool> best;
  for (const run::EvalEvent& event : log.evaluations) best.push_back(event.best);
  EXPECT_EQ(best, (std::vector<bool>{true, true, false, false, true}));
}

TEST_F(Training, ABadStepIsCountedAndTheRunGoesOn) {
  const run::Settings settings = images("resnet");
  Log log;
  EXPECT_EQ(train_task_in("run", settings,
                          std::make_unique<PoisonedTask>(settings, Poison::loss, 4, 6), log),
            run::Outcome::finished);
  EXPECT_EQ(log.bad_steps, 2U);
  EXPECT_EQ(log.losses.size(), settings.steps);
  EXPECT_TRUE(std::isfinite(log.losses.back()));
  EXPECT_FALSE(final_files("run").empty());
}

TEST_F(Training, ABadStepChangesNoBit) {
  for (const char* method : {"bcosw_c", "bcosw_m", "bcosw_g", "adamw"}) {
    for (const Poison poison : {Poison::loss, Poison::gradient}) {
      run::Settings settings = images("resnet");
      settings.method = method;
      const std::string name = std::string(method) + (poison == Poison::loss ? "-l" : "-g");
      ASSERT_EQ(train_in(name + "-short", settings, settings.steps - 2), run::Outcome::interrupted);
      Log log;
      ASSERT_EQ(train_task_in(name, settings,
                              std::make_unique<PoisonedTask>(settings, poison, settings.steps - 2,
                                                             settings.steps),
                              log),
                run::Outcome::finished);
      EXPECT_EQ(log.bad_steps, 2U);
      EXPECT_FALSE(state_of(name).empty());
      EXPECT_TRUE(state_of(name) == state_of(name + "-short")) << name;
    }
  }
}

TEST_F(Training, EndsAfterTooManyBadStepsInARow) {
  const run::Settings settings = gpt();
  Log log;
  EXPECT_EQ(train_task_in("run", settings,
                          std::make_unique<PoisonedTask>(settings, Poison::loss, 7, 100), log),
            run::Outcome::diverged);
  EXPECT_EQ(log.losses.size(), 17U);
}

/// Asks the run to stop in the middle of a step and of an evaluation.
class StoppingTask : public PoisonedTask {
 public:
  StoppingTask(const run::Settings& settings, std::uint64_t step, bool& stop)
      : PoisonedTask(settings, Poison::loss, 0, 0), step_(step), stop_(stop) {}
  torch::Tensor loss(models::Model& model, std::uint64_t step, std::uint64_t part) override {
    if (step == step_ && part == 1) stop_ = true;
    return PoisonedTask::loss(model, step, part);
  }

 private:
  std::uint64_t step_;
  bool& stop_;
};

TEST_F(Training, StopsBetweenThePartsOfAStepAsIfItHadNotBegun) {
  run::Settings settings = images("resnet");
  settings.total_batch = 24;
  const auto whole = [&] {
    train_in("whole", settings);
    return final_files("whole");
  }();
  bool stop = false;
  Log log;
  SaveAtTheEnd saver;
  const std::string directory = (folder_ / "parts").string();
  fs::create_directories(directory);
  run::CheckpointStore store(directory + "/checkpoints", 2);
  run::Observer* const observers[] = {&log, &saver};
  TrainRequest request{settings, "parts", directory, &store, observers};
  request.stop_requested = [&] { return stop; };
  EXPECT_EQ(train_task(request, std::make_unique<StoppingTask>(settings, 7, stop)),
            run::Outcome::interrupted);
  EXPECT_EQ(log.losses.size(), 7U);
  train_in("parts", settings);
  EXPECT_TRUE(final_files("parts") == whole);
}

TEST_F(Training, StopsBetweenTheBatchesOfAnEvaluation) {
  for (const std::string kind : {"gpt", "mlp"}) {
    run::Settings settings = kind == "gpt" ? gpt() : images(kind);
    settings.eval_batches = 0;
    const auto task = make_task(settings);
    const auto model = models::make_model(task->model_options());
    int asked = 0;
    EXPECT_FALSE(task->evaluate(*model, [&] { return ++asked == 2; }));
    EXPECT_EQ(asked, 2);
  }
}

TEST_F(Training, DecaysNeitherPlacesNorVectorsOfAViT) {
  run::Settings settings = images("vit");
  settings.layers = 1;
  settings.width = 16;
  settings.heads = 2;
  const auto model = models::make_model(make_task(settings)->model_options());
  std::uint64_t matrices = 0;
  for (const auto& item : model->named_parameters()) matrices += item.value().dim() >= 2 ? 1 : 0;
  EXPECT_EQ(ModelOptimizer(*model, settings).decayed_tensors(), matrices - 2);
  settings.decay_all = true;
  EXPECT_EQ(ModelOptimizer(*model, settings).decayed_tensors(), model->parameters().size());
}

TEST_F(Training, CountsBadStepsAcrossAResume) {
  const run::Settings settings = gpt();
  const auto poisoned = [&] {
    return std::make_unique<PoisonedTask>(settings, Poison::loss, 7, 100);
  };
  Log first;
  ASSERT_EQ(train_task_in("run", settings, poisoned(), first, 13), run::Outcome::interrupted);
  EXPECT_EQ(first.bad_steps, 6U);
  Log second;
  EXPECT_EQ(train_task_in("run", settings, poisoned(), second), run::Outcome::diverged);
  EXPECT_EQ(second.losses.size(), 4U);
  EXPECT_EQ(second.bad_steps, 10U);
}

TEST_F(Training, DoesNotDependOnTheEnginesThreads) {
  at::set_num_threads(1);
  const run::Settings settings = gpt();
  const auto losses = [&](const Executor& executor) {
    const auto task = make_task(settings);
    torch::manual_seed(3);
    models::ModelOptions options = task->model_options();
    options.width = 128;
    options.heads = 4;
    const auto model = models::make_model(options);
    ModelOptimizer optimizer(*model, settings, executor);
    std::vector<double> list;
    for (std::uint64_t step = 0; step < 20; ++step) {
      model->zero_grad();
      torch::Tensor loss = task->loss(*model, step, 0);
      loss.backward();
      optimizer.step(0.01);
      list.push_back(loss.item<double>());
    }
    return list;
  };
  set_default_threads(2);
  EXPECT_EQ(losses({.threads = 1}), losses({.threads = 2}));
}

TEST_F(Training, NeverSavesWeightsThatAreNotFinite) {
  const auto model = models::make_model(make_task(gpt())->model_options());
  const std::string path = (folder_ / "w.safetensors").string();
  save_weights(*model, path);
  {
    const torch::NoGradGuard no_grad;
    model->parameters().front().view(-1)[3] = std::numeric_limits<float>::infinity();
  }
  EXPECT_NE(error_of([&] { save_weights(*model, path); }).find("NaN or infinity"),
            std::string::npos);
  load_weights(*model, path);
  EXPECT_TRUE(torch::isfinite(model->parameters().front()).all().item<bool>());
}

TEST_F(Training, LoadsNoWeightsOfAnotherModel) {
  const std::string path = (folder_ / "w.safetensors").string();
  save_weights(*models::make_model(make_task(gpt())->model_options()), path);
  run::Settings wider = gpt();
  wider.width = 32;
  const auto model = models::make_model(make_task(wider)->model_options());
  const torch::Tensor before = model->parameters().front().clone();
  EXPECT_NE(error_of([&] { load_weights(*model, path); }).find("expected 'wte.weight' as F32"),
            std::string::npos);
  EXPECT_TRUE(torch::equal(before, model->parameters().front()));
}

TEST_F(Training, WritesTextFromACheckpoint) {
  run::Settings settings = gpt();
  settings.steps = 5;
  settings.warmup = 0;
  train_in("run", settings);
  std::vector<std::string> complaints;
  SampleRequest request;
  request.checkpoint =
      run::latest_checkpoint((folder_ / "run/checkpoints").string(), complaints)->path;
  request.prompt = "step";
  request.count = 20;
  const std::string text = sample(request);
  EXPECT_TRUE(text.starts_with("step"));
  EXPECT_EQ(text.size(), 24U);
  EXPECT_EQ(sample(request), text);
}

}  // namespace
}  // namespace bcos::lab::loop
