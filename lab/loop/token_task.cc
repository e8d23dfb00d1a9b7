#include "lab/data/batches.hpp"
#include "lab/data/corpus.hpp"
#include "lab/loop/ahead.hpp"
#include "lab/loop/task.hpp"

namespace bcos::lab::loop {
namespace {

data::TextOptions text_options_of(const run::Settings& s) {
  data::TextOptions options;
  options.data = s.data;
  options.val = s.val;
  options.format = s.format;
  options.bpe = s.bpe;
  options.val_fraction = s.val_fraction;
  options.vocab_size = s.vocab_size;
  return options;
}

class TokenTask : public Task {
 public:
  explicit TokenTask(const run::Settings& settings)
      : settings_(settings),
        data_(data::open_text(text_options_of(settings))),
        train_(*data_.train, settings.context, settings.batch, settings.seed),
        val_(*data_.val, settings.context, settings.batch, settings.eval_batches),
        ahead_(accumulation(),
               [this](std::uint64_t step, std::uint64_t part, data::TokenBatch& batch) {
                 train_.fill(step, part, batch);
               }) {}

  std::string described() const override { return data_.described; }
  std::string_view unit() const override { return "token"; }
  std::uint64_t steps() const override { return settings_.steps; }
  std::uint64_t accumulation() const override {
    return std::max<std::uint64_t>(1, settings_.total_batch / batch_tokens());
  }
  std::uint64_t units_a_step() const override { return accumulation() * batch_tokens(); }

  models::ModelOptions model_options() const override {
    models::ModelOptions options = model_options_of(settings_);
    options.vocab_size = static_cast<int>(data_.vocabulary.size());
    return options;
  }

  torch::Tensor loss(models::Model& model, std::uint64_t step, std::uint64_t part) override {
    batch_ = ahead_.take(step, part);
    return loss_of(model, batch_);
  }

  std::optional<EvalResult> evaluate(models::Model& model,
                                     const std::function<bool()>& stopped) override {
    double sum = 0;
    double rows = 0;
    data::TokenBatch batch;
    for (std::uint64_t k = 0; k < val_.size(); ++k) {
      if (stopped()) return {};
      val_.fill(k, batch);
      // The last batch of all may have fewer rows.
      const auto own = static_cast<double>(batch.rows);
      sum += own * loss_of(model, batch).item<double>();
      rows += own;
    }
    return EvalResult{sum / rows, std::nullopt};
  }

  nlohmann::ordered_json facts() const override {
    nlohmann::ordered_json facts;
    facts["vocabulary"] = nlohmann::ordered_json::parse(data_.vocabulary.to_json());
    facts["files"] = file_facts(data_.files);
    return facts;
  }

 private:
  std::uint64_t batch_tokens() const { return settings_.batch * settings_.context; }

  torch::Tensor loss_of(models::Model& model, data::TokenBatch& batch) const {
    const std::int64_t shape[] = {static_cast<std::int64_t>(batch.rows),
                                  static_cast<std::int64_t>(settings_.context)};
    return model.loss(torch::from_blob(batch.inputs.data(), shape, torch::kInt64),
                      torch::from_blob(batch.targets.data(), shape, torch::kInt64));
  }

  run::Settings settings_;
  data::TextData data_;
  data::TokenBatches train_;
  data::EvalBatches val_;
  Ahead<data::TokenBatch> ahead_;
  data::TokenBatch batch_;  ///< lives until the backward pass of its loss is done
};

}  // namespace

std::unique_ptr<Task> make_token_task(const run::Settings& settings) {
  return std::make_unique<TokenTask>(settings);
}

}  // namespace bcos::lab::loop
