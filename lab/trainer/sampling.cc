#include <torch/torch.h>

#include "engine/error.hpp"
#include "lab/data/vocabulary.hpp"
#include "lab/models/gpt.hpp"
#include "lab/models/gpt_file.hpp"
#include "lab/models/sample.hpp"
#include "lab/trainer/task.hpp"
#include "lab/trainer/torch_errors.hpp"
#include "lab/trainer/trainer.hpp"
#include "lab/trainer/weights.hpp"

namespace bcos::lab {
namespace {

struct Trained {
  std::shared_ptr<Gpt> model;
  Vocabulary vocabulary;
};

Trained load_gpt(const std::string& path) {
  const Checkpoint checkpoint = read_checkpoint(path);
  const Settings settings = settings_from_toml(
      {}, checkpoint.facts.value("settings", std::string()), path + "/manifest.json");
  if (settings.model != "gpt") {
    throw fail("sample", "expected a GPT but '{}' holds a model of kind {}", path, settings.model);
  }
  Vocabulary vocabulary =
      Vocabulary::from_json(checkpoint.facts.at("data").at("vocabulary").dump());
  ModelOptions options = model_options_of(settings);
  options.vocab_size = static_cast<int>(vocabulary.size());
  auto model = std::make_shared<Gpt>(options);
  load_weights(*model, checkpoint.file("model.safetensors"));
  return {model, std::move(vocabulary)};
}

std::string sampled(const SampleRequest& request) {
  Trained trained = load_gpt(request.checkpoint);
  if (!request.bpe.empty()) trained.vocabulary = Vocabulary::bpe(Bpe::open(request.bpe));
  const std::string prompt = request.prompt.empty() ? "\n" : request.prompt;
  const std::vector<std::uint32_t> ids = trained.vocabulary.encode(prompt);
  const std::vector<std::int64_t> tokens(ids.begin(), ids.end());
  const auto written = sample(*trained.model, tokens, static_cast<std::int64_t>(request.count),
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
    save_gpt2(*trained.model, path);
    return gpt2_config(*trained.model);
  });
}

}  // namespace bcos::lab
