#include <array>

#include "engine/suggestion.hpp"
#include "lab/cli/usage.hpp"
#include "lab/training/settings.hpp"

namespace bcos::lab {

std::span<const Field> fields() {
  using S = Settings;
  static const std::vector<Field> kFields = {
      {"preset", "run", "settings to begin from, see `bcos train --presets`", &S::preset},
      {"name", "run", "name of the run (made of model, method, lr and seed)", &S::name},
      {"out", "run", "folder of the runs", &S::out},
      {"seed", "run", "of weights, order of examples, dropout", &S::seed},
      {"threads", "run", "threads; 0: all", &S::threads},

      {"data", "data", "headers, fashion-mnist, a file, a glob of shards or a folder", &S::data},
      {"val", "data", "validation file (a part of the data)", &S::val},
      {"format",
       "data",
       "how to read the data",
       &S::format,
       {"auto", "bytes", "ascii", "chars", "bpe", "tokens", "idx", "cifar10", "cifar100",
        "folder"}},
      {"bpe", "data", "folder with GPT-2's encoder.json and vocab.bpe", &S::bpe},
      {"val_fraction", "data", "part of a text that is held out", &S::val_fraction},
      {"vocab_size", "data", "of token files, which do not say; 0: GPT-2's", &S::vocab_size},
      {"image_size", "data", "image folders: side to resize to", &S::image_size},
      {"augment", "data", "crop and flip training images; no leaves smallest_crop out, too",
       &S::augment},
      {"smallest_crop", "data",
       "part of the area that a crop has at least; 1: moved by up to 4 pixels", &S::smallest_crop},
      {"erase", "data", "how often a rectangle of a training image is erased", &S::erase},
      {"mixup", "data", "fade training images into each other, by Beta(X, X); 0: off", &S::mixup},
      {"cutmix", "data", "swap rectangles of training images, by Beta(X, X); 0: off", &S::cutmix},

      {"model", "model", "what to train", &S::model, {"gpt", "resnet", "vit", "mlp"}},
      {"layers", "model", "gpt, vit: layers", &S::layers},
      {"width", "model", "gpt, vit: width", &S::width},
      {"heads", "model", "gpt, vit: attention heads", &S::heads},
      {"context", "model", "gpt: tokens of a sequence", &S::context},
      {"positions", "model", "gpt: positions", &S::positions, {"learned", "rotary"}},
      {"activation", "model", "gpt: of the MLP", &S::activation, {"gelu", "relu"}},
      {"bias", "model", "gpt: biases", &S::bias},
      {"tied", "model", "gpt: one matrix for embedding and output", &S::tied},
      {"dropout", "model", "gpt, vit: dropout", &S::dropout},
      {"depth", "model", "resnet: 20, 32, 56, ...", &S::depth},
      {"patch", "model", "vit: side of a patch", &S::patch},
      {"drop_path", "model", "vit: stochastic depth", &S::drop_path},
      {"label_smoothing", "model", "classifiers: label smoothing", &S::label_smoothing},
      {"hidden", "model", "mlp: hidden layers", &S::hidden},
      {"init_from", "model", "gpt: weights in Hugging Face's safetensors", &S::init_from},

      {"batch", "batch", "sequences or images at a time", &S::batch},
      {"total_batch", "batch", "tokens or images a step, by accumulation; 0: one batch",
       &S::total_batch},
      {"steps", "batch", "steps", &S::steps},
      {"epochs", "batch", "classifiers: epochs, in place of steps", &S::epochs},

      {"method", "optimizer", "see `bcos methods`", &S::method},
      {"lr", "optimizer", "peak learning rate (from adamw_lr)", &S::lr},
      {"adamw_lr", "optimizer", "AdamW's; BCOS methods take a quarter", &S::adamw_lr},
      {"weight_decay", "optimizer", "lambda (the method's own)", &S::weight_decay},
      {"decay_all", "optimizer", "decay vectors too, not matrices alone", &S::decay_all},
      {"beta", "optimizer", "the method's own unless given", &S::beta},
      {"beta_v", "optimizer", "the method's own unless given", &S::beta_v},
      {"eps", "optimizer", "outside the root", &S::eps},
      {"eps_root", "optimizer", "inside the root", &S::eps_root},
      {"start",
       "optimizer",
       "state before the first step (the method's own)",
       &S::start,
       {"", "first", "zero", "zero_corrected"}},
      {"clip", "optimizer", "largest norm of all gradients; 0: off", &S::clip},
      {"most_bad_steps", "optimizer", "non-finite steps in a row that end a run",
       &S::most_bad_steps},

      {"schedule",
       "schedule",
       "after warm-up",
       &S::schedule,
       {"cosine", "linear", "wsd", "step", "constant"}},
      {"warmup", "schedule", "steps of warm-up", &S::warmup},
      {"warmup_part", "schedule", "warm-up as a part of the run, where warmup is 0",
       &S::warmup_part},
      {"lr_floor", "schedule", "end of the decay, as a part of lr", &S::lr_floor},
      {"decay_steps", "schedule", "wsd: steps of the decay; 0: a fifth", &S::decay_steps},
      {"milestones", "schedule", "step: where lr falls", &S::milestones},
      {"factor", "schedule", "step: by how much", &S::factor},

      {"eval_every", "log", "steps between evaluations; also at the first and the last",
       &S::eval_every},
      {"eval_batches", "log", "batches of an evaluation; 0: all", &S::eval_batches},
      {"checkpoint_every", "log", "steps between checkpoints; 0: as eval_every",
       &S::checkpoint_every},
      {"keep", "log", "checkpoints kept besides the best", &S::keep},
      {"log_every", "log", "steps between lines where there is no terminal", &S::log_every},

      {"diagnose", "diagnosis", "aiming, signal or both: aiming,signal", &S::diagnose},
      {"diagnose_every", "diagnosis", "steps between diagnoses; 0: about fifty a run",
       &S::diagnose_every},
      {"diagnose_ref", "diagnosis", "run to aim at (this run's last weights)", &S::diagnose_ref},
  };
  return kFields;
}

bool may_change(std::string_view key) {
  for (const std::string_view free :
       {"name", "out", "preset", "threads", "keep", "log_every", "checkpoint_every", "diagnose",
        "diagnose_every", "diagnose_ref"}) {
    if (key == free) return true;
  }
  return false;
}

const Field& field_of(std::string_view key) {
  std::string wanted(key);
  for (char& c : wanted) {
    if (c == '-') c = '_';
  }
  std::vector<std::string_view> known;
  for (const Field& field : fields()) {
    if (field.key == wanted) return field;
    known.push_back(field.key);
  }
  throw misuse("train", "expected a known setting but received '{}'{}", key,
               suggestion(wanted, known));
}

}  // namespace bcos::lab
