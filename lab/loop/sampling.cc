#include <torch/torch.h>

#include "engine/error.hpp"
#include "lab/data/vocabulary.hpp"
#include "lab/loop/task.hpp"
#include "lab/loop/torch_errors.hpp"
#include "lab/loop/train.hpp"
#include "lab/loop/weights.hpp"
#include "lab/models/gpt.hpp"
#include "lab/models/gpt_file.hpp"
#include "lab/models/sample.hpp"

namespace bcos::lab::loop {
namespace {

struct Trained {
  std::shared_ptr<models::Gpt> model;
  data::Vocabulary vocabulary;
};

Trained load_gpt(const std::string& path) {
  const run::Checkpoint checkpoint = run::read_checkpoint(path);
  const run::Settings settings = run::settings_from_toml(
      {}, checkpoint.facts.value("settings", std::string()), path + "/manifest.json");
  if (settings.model != "gpt") {
    throw fail("sample", "expected a GPT but '{}' holds a model of kind {}", path, settings.model);
  }
  data::Vocabulary vocabulary =
      data::Vocabulary::from_json(checkpoint.facts.at("data").at("vocabulary").dump());
  models::ModelOptions options = model_options_of(settings);
  options.vocab_size = static_cast<int>(vocabulary.size());
  auto model = std::make_shared<models::Gpt>(options);
  load_weights(*model, checkpoint.file("model.safetensors"));
  return {model, std::move(vocabulary)};
}

std::string sampled(const SampleRequest& request) {
  Trained trained = load_gpt(request.checkpoint);
  if (!request.bpe.empty())
    trained.vocabulary = data::Vocabulary::bpe(data::Bpe::open(request.bpe));
  const std::string prompt = request.prompt.empty() ? "\n" : request.prompt;
  const std::vector<std::uint32_t> ids = trained.vocabulary.encode(prompt);
  const std::vector<std::int64_t> tokens(ids.begin(), ids.end());
  const auto written =
      models::sample(*trained.model, tokens, static_cast<std::int64_t>(request.count),
                     request.temperature, static_cast<int>(request.top_k), request.seed);
  return request.prompt + trained.vocabulary.decode(written);
}

}  // namespace

std::string sample(const SampleRequest& request) {
  return with_our_errors("sample", [&] { return sampled(request); });
}

std::string export_gpt2(const std::string& checkpoint, const std::string& path) {
  return with_our_errors("sample", [&] {
    const Trained trained = load_gpt(checkpoint);
    models::save_gpt2(*trained.model, path);
    return models::gpt2_config(*trained.model);
  });
}

}  // namespace bcos::lab::loop
