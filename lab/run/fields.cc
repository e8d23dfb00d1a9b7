#include <limits>

#include "engine/suggestion.hpp"
#include "lab/cli/usage.hpp"
#include "lab/run/settings.hpp"

namespace bcos::lab::run {
namespace {

constexpr std::uint64_t kMostSize = 1 << 24;  // as models have it
constexpr std::uint64_t kMostThreads = 1024;
constexpr std::uint64_t kMostSeed = std::numeric_limits<std::int64_t>::max();  // TOML's largest

}  // namespace

std::span<const Field> fields() {
  using S = Settings;
  using enum Role;
  static const std::vector<Field> kFields = {
      {"preset", place, "run", "settings to begin from, see `bcos train --presets`", &S::preset},
      {"name", place, "run", "name of the run (made of model, method, lr and seed)", &S::name},
      {"out", place, "run", "folder of the runs", &S::out},
      {"seed", trains, "run", "of weights, order of examples, dropout", &S::seed, {}, 0, kMostSeed},
      {"threads", numerics, "run", "threads; 0: all", &S::threads, {}, 0, kMostThreads},

      {"data", trains, "data", "headers, fashion-mnist, a file, a glob of shards or a folder",
       &S::data},
      {"val", trains, "data", "validation file (a part of the data)", &S::val},
      {"format",
       trains,
       "data",
       "how to read the data",
       &S::format,
       {"auto", "bytes", "ascii", "chars", "bpe", "tokens", "idx", "cifar10", "cifar100",
        "folder"}},
      {"bpe", trains, "data", "folder with GPT-2's encoder.json and vocab.bpe", &S::bpe},
      {"val_fraction", trains, "data", "part of a text that is held out", &S::val_fraction},
      {"vocab_size",
       trains,
       "data",
       "of token files, which do not say; 0: GPT-2's",
       &S::vocab_size,
       {},
       0,
       kMostSize},
      {"image_size",
       trains,
       "data",
       "image folders: side to resize to",
       &S::image_size,
       {},
       1,
       kMostSize},
      {"augment", trains, "data", "crop and flip training images; no leaves smallest_crop out, too",
       &S::augment},
      {"smallest_crop", trains, "data",
       "part of the area that a crop has at least; 1: moved by up to 4 pixels", &S::smallest_crop},
      {"erase", trains, "data", "how often a rectangle of a training image is erased", &S::erase},
      {"mixup", trains, "data", "fade training images into each other, by Beta(X, X); 0: off",
       &S::mixup},
      {"cutmix", trains, "data", "swap rectangles of training images, by Beta(X, X); 0: off",
       &S::cutmix},

      {"model", trains, "model", "what to train", &S::model, {"gpt", "resnet", "vit", "mlp"}},
      {"layers", trains, "model", "gpt, vit: layers", &S::layers, {}, 1, kMostSize},
      {"width", trains, "model", "gpt, vit: width", &S::width, {}, 1, kMostSize},
      {"heads", trains, "model", "gpt, vit: attention heads", &S::heads, {}, 1, kMostSize},
      {"context", trains, "model", "gpt: tokens of a sequence", &S::context, {}, 1, kMostSize},
      {"positions", trains, "model", "gpt: positions", &S::positions, {"learned", "rotary"}},
      {"activation", trains, "model", "gpt: of the MLP", &S::activation, {"gelu", "relu"}},
      {"bias", trains, "model", "gpt: biases", &S::bias},
      {"tied", trains, "model", "gpt: one matrix for embedding and output", &S::tied},
      {"dropout", trains, "model", "gpt, vit: dropout", &S::dropout},
      {"depth", trains, "model", "resnet: 20, 32, 56, ...", &S::depth, {}, 1, kMostSize},
      {"patch", trains, "model", "vit: side of a patch", &S::patch, {}, 1, kMostSize},
      {"drop_path", trains, "model", "vit: stochastic depth", &S::drop_path},
      {"label_smoothing", trains, "model", "classifiers: label smoothing", &S::label_smoothing},
      {"hidden", trains, "model", "mlp: hidden layers", &S::hidden, {}, 1, kMostSize},
      {"init_from", trains, "model", "gpt: weights in Hugging Face's safetensors", &S::init_from},

      {"batch", trains, "batch", "sequences or images at a time", &S::batch, {}, 1, kMostSize},
      {"total_batch", trains, "batch", "tokens or images a step, by accumulation; 0: one batch",
       &S::total_batch},
      {"steps", trains, "batch", "steps", &S::steps, {}, 1},
      {"epochs", trains, "batch", "classifiers: epochs, in place of steps", &S::epochs},

      {"method", trains, "optimizer", "a name of `bcos methods`, or JSON", &S::method},
      {"lr", trains, "optimizer", "peak learning rate (from adamw_lr)", &S::lr},
      {"adamw_lr", trains, "optimizer", "AdamW's; BCOS methods take a quarter", &S::adamw_lr},
      {"weight_decay", trains, "optimizer", "lambda (the method's own)", &S::weight_decay},
      {"decay_rate", trains, "optimizer", "peak alpha x lambda, in place of weight_decay",
       &S::decay_rate},
      {"decay_all", trains, "optimizer", "decay vectors too, not matrices alone", &S::decay_all},
      {"beta", trains, "optimizer", "the method's own unless given", &S::beta},
      {"beta_v", trains, "optimizer", "the method's own unless given", &S::beta_v},
      {"eps", trains, "optimizer", "outside the root", &S::eps},
      {"eps_root", trains, "optimizer", "inside the root", &S::eps_root},
      {"start",
       trains,
       "optimizer",
       "state before the first step (the method's own)",
       &S::start,
       {"", "first", "zero", "zero_corrected"}},
      {"clip", trains, "optimizer", "largest norm of all gradients; 0: off", &S::clip},
      {"most_bad_steps",
       trains,
       "optimizer",
       "non-finite steps in a row that end a run",
       &S::most_bad_steps,
       {},
       1},

      {"schedule",
       trains,
       "schedule",
       "after warm-up",
       &S::schedule,
       {"cosine", "linear", "wsd", "step", "constant"}},
      {"warmup", trains, "schedule", "steps of warm-up", &S::warmup},
      {"warmup_part", trains, "schedule", "warm-up as a part of the run, where warmup is 0",
       &S::warmup_part},
      {"lr_floor", trains, "schedule", "end of the decay, as a part of lr", &S::lr_floor},
      {"decay_steps", trains, "schedule", "wsd: steps of the decay; 0: a fifth", &S::decay_steps},
      {"milestones", trains, "schedule", "step: where lr falls", &S::milestones},
      {"factor", trains, "schedule", "step: by how much", &S::factor},

      {"eval_every",
       looks,
       "log",
       "steps between evaluations; also at the first and the last",
       &S::eval_every,
       {},
       1},
      {"eval_batches",
       trains,
       "log",
       "batches of an evaluation; 0: all",
       &S::eval_batches,
       {},
       0,
       kMostSize},
      {"checkpoint_every", looks, "log", "steps between checkpoints; 0: as eval_every",
       &S::checkpoint_every},
      {"keep", looks, "log", "checkpoints kept besides the best", &S::keep, {}, 1, kMostSize},
      {"log_every",
       looks,
       "log",
       "steps between lines where there is no terminal",
       &S::log_every,
       {},
       1},

      {"diagnose", looks, "diagnosis", "aiming, signal or both: aiming,signal", &S::diagnose},
      {"diagnose_every", looks, "diagnosis", "steps between diagnoses; 0: about fifty a run",
       &S::diagnose_every},
      {"diagnose_ref", looks, "diagnosis", "run to aim at (this run's last weights)",
       &S::diagnose_ref},
  };
  return kFields;
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
  throw cli::misuse("train", "expected a known setting but received '{}'{}", key,
                    suggestion(wanted, known));
}

}  // namespace bcos::lab::run
