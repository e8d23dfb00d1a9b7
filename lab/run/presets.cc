#include "lab/run/presets.hpp"

#include "bcos/text.hpp"
#include "engine/suggestion.hpp"
#include "lab/cli/method_text.hpp"
#include "lab/cli/usage.hpp"

namespace bcos::lab::run {
namespace {

/// AdamW as it is usually at its best on runs of this length.
constexpr std::string_view kBoth = "adamw:beta_v=0.95:weight_decay=0.1,bcosw_c";

Preset demo() {
  Settings s;
  s.data = "headers";
  s.activation = "relu";
  s.bias = false;
  s.steps = 800;
  s.warmup_part = 0.2;
  s.adamw_lr = 0.016;
  s.eval_every = 50;
  s.eval_batches = 20;
  s.checkpoint_every = 200;
  return {"demo", "a small GPT on the C++ headers: half a minute on two cores", kBoth, s};
}

Preset gpt_char() {
  Settings s;
  s.format = "chars";
  s.layers = 6;
  s.width = 384;
  s.heads = 6;
  s.context = 256;
  s.bias = false;
  s.dropout = 0.2;
  s.batch = 64;
  s.steps = 5000;
  s.warmup = 100;
  s.adamw_lr = 1e-3;
  s.lr_floor = 0.1;
  s.eval_every = 250;
  s.eval_batches = 200;
  return {"gpt-char", "nanoGPT's settings for the characters of a text (--data FILE)", kBoth, s};
}

Preset gpt2_124m() {
  Settings s;
  s.data = "train.bin";
  s.val = "val.bin";
  s.layers = 12;
  s.width = 768;
  s.heads = 12;
  s.context = 1024;
  s.positions = "rotary";
  s.bias = false;
  s.batch = 8;
  s.total_batch = 512 * 1024;
  s.steps = 100000;
  s.warmup = 2000;
  s.adamw_lr = 0.002;
  s.eval_every = 1000;
  return {"gpt2-124m", "the paper's GPT-2 on token files (--data 'train_*.bin' --val val.bin)",
          kBoth, s};
}

Preset resnet20_cifar10() {
  Settings s;
  s.data = "cifar-10-batches-bin";
  s.model = "resnet";
  s.depth = 20;
  s.batch = 128;
  s.epochs = 164;
  s.warmup_part = 0.05;
  s.adamw_lr = 0.008;
  s.eval_every = 390;
  s.eval_batches = 0;
  return {"resnet20-cifar10", "ResNet-20 on CIFAR-10's binary files (--data FOLDER)",
          "sgd_momentum:lr=1:weight_decay=0.0005,adamw:beta_v=0.95:weight_decay=0.1,bcosw_c", s};
}

Preset vit_tiny() {
  Settings s;
  s.data = "imagenet";
  s.model = "vit";
  s.layers = 12;
  s.width = 192;
  s.heads = 3;
  s.patch = 16;
  s.drop_path = 0.1;
  s.label_smoothing = 0.1;
  s.smallest_crop = 0.08;
  s.erase = 0.25;
  s.mixup = 0.8;
  s.cutmix = 1;
  s.batch = 64;
  s.total_batch = 1024;
  s.epochs = 300;
  s.warmup_part = 5.0 / 300;
  s.adamw_lr = 1e-3;
  s.eval_every = 1251;
  s.eval_batches = 0;
  return {"vit-tiny", "DeiT-tiny on a folder of images (--data ROOT with train/ and val/)", kBoth,
          s};
}

Preset mlp_mnist() {
  Settings s;
  s.data = "fashion-mnist";
  s.model = "mlp";
  s.batch = 128;
  s.epochs = 5;
  s.warmup_part = 0.05;
  s.augment = false;
  s.adamw_lr = 4e-3;
  s.eval_every = 469;
  s.eval_batches = 0;
  return {"mlp-mnist", "two hidden layers on Fashion-MNIST or MNIST", kBoth, s};
}

}  // namespace

std::span<const Preset> presets() {
  static const std::vector<Preset> kAll = [] {
    std::vector<Preset> all = {demo(),     gpt_char(), gpt2_124m(), resnet20_cifar10(),
                               vit_tiny(), mlp_mnist()};
    for (Preset& preset : all) preset.settings.preset = preset.name;
    return all;
  }();
  return kAll;
}

const Preset& preset_of(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Preset& preset : presets()) {
    if (preset.name == name) return preset;
    known.push_back(preset.name);
  }
  throw cli::misuse("train", "expected a known preset but received '{}'{}", name,
                    suggestion(name, known));
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c == separator && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

namespace {

/// A method of a file is written out, so that settings do not depend on the file.
std::string method_written(const std::string& text) {
  return text.starts_with('@') ? to_json(cli::method_given(text)) : text;
}

}  // namespace

std::vector<MethodEntry> method_entries(std::string_view text) {
  std::vector<MethodEntry> entries;
  for (const std::string& entry : parts_of(text, ',')) {
    const std::vector<std::string> parts = parts_of(entry, ':');
    MethodEntry& one = entries.emplace_back();
    one.method = method_written(parts.front());
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const std::size_t equals = parts[i].find('=');
      if (equals == std::string::npos) {
        throw cli::misuse("compare", "expected a method as NAME:key=value but received '{}'",
                          entry);
      }
      one.settings.emplace_back(parts[i].substr(0, equals), parts[i].substr(equals + 1));
    }
  }
  return entries;
}

Settings settings_of(const Preset& preset, const std::string& method) {
  Settings settings = preset.settings;
  for (const MethodEntry& entry : method_entries(preset.methods)) {
    if (entry.method != method) continue;
    settings.method = method;
    for (const auto& [key, value] : entry.settings) set_field(settings, field_of(key), value);
  }
  return settings;
}

}  // namespace bcos::lab::run
