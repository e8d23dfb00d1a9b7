#pragma once

#include <torch/torch.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lab/data/augment.hpp"
#include "lab/data/data_file.hpp"
#include "lab/loop/train.hpp"
#include "lab/models/model.hpp"
#include "lab/models/options.hpp"
#include "lab/run/settings.hpp"

namespace bcos::lab::loop {

struct EvalResult {
  double loss = 0;
  std::optional<double> accuracy;
};

/// What a model is trained on: batches by step, and an evaluation that is the same at every step.
class Task {
 public:
  virtual ~Task() = default;

  virtual std::string described() const = 0;
  virtual std::string_view unit() const = 0;  ///< "token" or "image"
  /// The model of the settings, with what the data say of it.
  virtual models::ModelOptions model_options() const = 0;
  virtual std::uint64_t steps() const = 0;
  virtual std::uint64_t accumulation() const = 0;
  virtual std::uint64_t units_a_step() const = 0;

  /// The loss of part `part` of step `step`: a function of seed, step and part alone. Its backward
  /// pass must be done before the next call.
  virtual torch::Tensor loss(models::Model& model, std::uint64_t step, std::uint64_t part) = 0;
  /// Nothing if `stopped` says so between two batches.
  virtual std::optional<EvalResult> evaluate(models::Model& model,
                                             const std::function<bool()>& stopped) = 0;

  /// Sentences about what was found damaged since they were last asked for.
  virtual std::vector<std::string> complaints() { return {}; }

  /// What a checkpoint keeps of the data: vocabulary or classes, and the files.
  virtual nlohmann::ordered_json facts() const = 0;
};

/// Opens and checks the data.
std::unique_ptr<Task> make_task(const run::Settings& settings);
std::unique_ptr<Task> make_token_task(const run::Settings& settings);
std::unique_ptr<Task> make_image_task(const run::Settings& settings);

/// `train` on a task that the caller made.
run::Outcome train_task(const TrainRequest& request, std::unique_ptr<Task> task);

/// Files as a checkpoint remembers them: by name, size and checksum, wherever they lie.
nlohmann::ordered_json file_facts(const std::vector<data::FileFact>& files);

/// What is done to training images.
data::Augment augment_of(const run::Settings& settings);

/// The model that the settings describe, without what the data say.
models::ModelOptions model_options_of(const run::Settings& settings);

}  // namespace bcos::lab::loop
