#include <cmath>

#include "engine/error.hpp"
#include "lab/data/batches.hpp"
#include "lab/data/images.hpp"
#include "lab/loop/ahead.hpp"
#include "lab/loop/task.hpp"

namespace bcos::lab::loop {
namespace {

data::ImageOptions image_options_of(const run::Settings& s) {
  data::ImageOptions options;
  options.data = s.data;
  options.format = s.format;
  options.image_size = static_cast<int>(s.image_size);
  return options;
}

class ImageTask : public Task {
 public:
  explicit ImageTask(const run::Settings& settings)
      : settings_(settings),
        data_(data::open_images(image_options_of(settings))),
        train_(*data_.train, settings.batch, settings.seed, augment_of(settings), data_.mean,
               data_.std, accumulation()),
        val_(*data_.val, settings.batch, data_.mean, data_.std, settings.eval_batches),
        ahead_(accumulation(),
               [this](std::uint64_t step, std::uint64_t part, data::ImageBatch& batch) {
                 train_.fill(step, part, batch);
               }) {
    if (data_.train->size() < units_a_step()) {
      throw fail("train", "expected at least {} training images for a step but received {}",
                 units_a_step(), data_.train->size());
    }
  }

  std::string described() const override { return data_.described; }
  std::string_view unit() const override { return "image"; }
  std::uint64_t accumulation() const override {
    return std::max<std::uint64_t>(1, settings_.total_batch / settings_.batch);
  }
  std::uint64_t units_a_step() const override { return accumulation() * settings_.batch; }
  std::uint64_t steps() const override {
    if (settings_.epochs == 0) return settings_.steps;
    const double images = settings_.epochs * static_cast<double>(data_.train->size());
    return static_cast<std::uint64_t>(std::ceil(images / static_cast<double>(units_a_step())));
  }

  models::ModelOptions model_options() const override {
    models::ModelOptions options = model_options_of(settings_);
    const data::ImageShape& shape = data_.train->shape();
    options.channels = shape.channels;
    options.image_size = shape.height;
    options.classes = data_.train->classes();
    if (shape.height != shape.width) {
      throw fail("train", "expected square images but received {} x {}", shape.height, shape.width);
    }
    return options;
  }

  torch::Tensor loss(models::Model& model, std::uint64_t step, std::uint64_t part) override {
    batch_ = ahead_.take(step, part);
    const torch::Tensor labels = labels_of(batch_);
    const torch::Tensor logits = model.forward(images_of(batch_));
    const torch::Tensor own = model.loss_of(logits, labels);
    if (batch_.share == 1) return own;
    return batch_.share * own + (1 - batch_.share) * model.loss_of(logits, labels.flip(0));
  }

  std::optional<EvalResult> evaluate(models::Model& model,
                                     const std::function<bool()>& stopped) override {
    double loss = 0;
    double right = 0;
    double seen = 0;
    data::ImageBatch batch;
    for (std::uint64_t k = 0; k < val_.size(); ++k) {
      if (stopped()) return {};
      val_.fill(k, batch);
      const auto count = static_cast<double>(batch.labels.size());
      const torch::Tensor labels = labels_of(batch);
      const torch::Tensor logits = model.forward(images_of(batch));
      loss += torch::cross_entropy_loss(logits, labels).item<double>() * count;
      right += static_cast<double>(logits.argmax(1).eq(labels).sum().item<std::int64_t>());
      seen += count;
    }
    return EvalResult{loss / seen, right / seen};
  }

  std::vector<std::string> complaints() override {
    std::vector<std::string> all = data_.train->take_complaints();
    for (std::string& one : data_.val->take_complaints()) all.push_back(std::move(one));
    return all;
  }

  nlohmann::ordered_json facts() const override {
    nlohmann::ordered_json facts;
    facts["classes"] = data_.train->class_names();
    facts["files"] = file_facts(data_.files);
    return facts;
  }

 private:
  torch::Tensor images_of(data::ImageBatch& batch) const {
    const data::ImageShape& shape = data_.train->shape();
    return torch::from_blob(
        batch.images.data(),
        {static_cast<std::int64_t>(batch.rows), shape.channels, shape.height, shape.width},
        torch::kFloat32);
  }
  static torch::Tensor labels_of(data::ImageBatch& batch) {
    return torch::from_blob(batch.labels.data(), {static_cast<std::int64_t>(batch.labels.size())},
                            torch::kInt64);
  }

  run::Settings settings_;
  data::ImageData data_;
  data::ImageBatches train_;
  data::ImageEvalBatches val_;
  Ahead<data::ImageBatch> ahead_;
  data::ImageBatch batch_;  ///< lives until the backward pass of its loss is done
};

}  // namespace

std::unique_ptr<Task> make_image_task(const run::Settings& settings) {
  return std::make_unique<ImageTask>(settings);
}

}  // namespace bcos::lab::loop
