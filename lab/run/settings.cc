#include "lab/run/settings.hpp"

#include <algorithm>

#include "bcos/methods.hpp"
#include "bcos/text.hpp"
#include "engine/error.hpp"
#include "engine/safetensors/layout.hpp"
#include "engine/suggestion.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/usage.hpp"

namespace bcos::lab::run {
namespace {

constexpr std::string_view kWhere = "train";
constexpr std::uint64_t kTimesARun = 50;  ///< that a run is diagnosed

/// Whole numbers are where the table of settings has them.
void check_bounds(const Settings& s, const Field& field) {
  const auto check = [&](std::uint64_t value) {
    if (value >= field.least && value <= field.most) return;
    if (field.most == Field::kMostCount && value < field.least) {
      throw cli::misuse(kWhere, "expected {} >= {} but received {}", field.key, field.least, value);
    }
    throw cli::misuse(kWhere, "expected {} in {}..{} but received {}", field.key, field.least,
                      field.most, value);
  };
  if (const auto* count = std::get_if<std::uint64_t Settings::*>(&field.member)) check(s.**count);
  if (const auto* list = std::get_if<std::vector<std::uint64_t> Settings::*>(&field.member)) {
    for (const std::uint64_t value : s.**list) check(value);
  }
}

/// A file of settings is UTF-8.
void check_text(const Settings& s, const Field& field) {
  const auto* text = std::get_if<std::string Settings::*>(&field.member);
  if (text == nullptr || safetensors::is_utf8(s.**text)) return;
  throw cli::misuse(kWhere, "expected {} in UTF-8 but received '{}'", field.key,
                    cli::visible(s.**text));
}

/// A run's name is that of one folder in `out`.
void check_name(const std::string& name) {
  const bool hidden = name.starts_with('.');
  const bool control =
      std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (!hidden && !control && name.find('/') == std::string::npos) return;
  throw cli::misuse(kWhere,
                    "expected name as a folder's name, without '/' and a first '.', but "
                    "received '{}': --out says where it lies",
                    cli::visible(name));
}

void in_unit(std::string_view key, double value, bool one_is_fine) {
  if (!(value >= 0 && (one_is_fine ? value <= 1 : value < 1))) {
    throw cli::misuse(kWhere, "expected {} in [0, 1{} but received {}", key,
                      one_is_fine ? "]" : ")", value);
  }
}

void not_negative(std::string_view key, double value) {
  if (!(value >= 0)) throw cli::misuse(kWhere, "expected {} >= 0 but received {}", key, value);
}

Curve curve_of(const std::string& schedule) {
  if (schedule == "cosine") return Curve::cosine;
  if (schedule == "linear") return Curve::linear;
  if (schedule == "wsd") return Curve::wsd;
  return schedule == "step" ? Curve::step : Curve::constant;
}

}  // namespace

namespace {

void check_model(const Settings& s) {
  const bool attends = s.model == "gpt" || s.model == "vit";
  if (attends && s.width % s.heads != 0) {
    throw cli::misuse(kWhere, "expected width as a multiple of heads = {} but received {}", s.heads,
                      s.width);
  }
  if (s.model == "gpt" && s.positions == "rotary" && s.width / s.heads % 2 != 0) {
    throw cli::misuse(kWhere,
                      "expected an even width / heads for rotary positions but received {} / {}",
                      s.width, s.heads);
  }
  if (s.model == "resnet" && (s.depth < 8 || s.depth % 6 != 2)) {
    throw cli::misuse(kWhere, "expected depth as 6n + 2 (20, 32, 56, ...) but received {}",
                      s.depth);
  }
  in_unit("dropout", s.dropout, false);
  in_unit("drop_path", s.drop_path, false);
  in_unit("label_smoothing", s.label_smoothing, false);
}

void check_data(const Settings& s) {
  constexpr std::string_view kText[] = {"bytes", "ascii", "chars", "bpe", "tokens"};
  const bool text = std::ranges::find(kText, s.format) != std::end(kText);
  if (s.format != "auto" && text != (s.model == "gpt")) {
    throw cli::misuse(kWhere, "expected a format of {} for model {} but received {}",
                      s.model == "gpt" ? "texts" : "images", s.model, s.format);
  }
  if (!(s.val_fraction > 0 && s.val_fraction < 1)) {
    throw cli::misuse(kWhere, "expected val_fraction in (0, 1) but received {}", s.val_fraction);
  }
  in_unit("erase", s.erase, true);
  in_unit("mixup", s.mixup, true);
  in_unit("cutmix", s.cutmix, true);
  if (!(s.smallest_crop > 0 && s.smallest_crop <= 1)) {
    throw cli::misuse(kWhere, "expected smallest_crop in (0, 1] but received {}", s.smallest_crop);
  }
}

void check_batch(const Settings& s) {
  not_negative("epochs", s.epochs);
  if (s.model == "gpt" && s.epochs > 0) {
    throw cli::misuse(kWhere, "expected steps for model gpt but received epochs = {}", s.epochs);
  }
  if (s.model == "gpt" && s.total_batch % (s.batch * s.context) != 0) {
    throw cli::misuse(
        kWhere,
        "expected total_batch as a multiple of batch x context = {} tokens but received "
        "{}",
        s.batch * s.context, s.total_batch);
  }
  if (s.model != "gpt" && s.total_batch % s.batch != 0) {
    throw cli::misuse(kWhere,
                      "expected total_batch as a multiple of batch = {} images but received {}",
                      s.batch, s.total_batch);
  }
}

void check_schedule(const Settings& s) {
  in_unit("lr_floor", s.lr_floor, true);
  in_unit("warmup_part", s.warmup_part, true);
  if (s.epochs > 0) return;
  if (s.warmup > s.steps) {
    throw cli::misuse(kWhere,
                      "expected warmup <= steps = {} but received {}: give a shorter --warmup",
                      s.steps, s.warmup);
  }
  schedule_of(s, s.steps);
}

}  // namespace

void validate(const Settings& s) {
  for (const Field& field : fields()) {
    check_bounds(s, field);
    check_text(s, field);
  }
  check_name(s.name);
  check_model(s);
  check_data(s);
  check_batch(s);
  not_negative("clip", s.clip);
  const std::vector<std::string> diagnoses = diagnoses_of(s);
  if (!s.diagnose_ref.empty() && std::ranges::find(diagnoses, "aiming") == diagnoses.end()) {
    throw cli::misuse(kWhere, "expected diagnose = aiming with diagnose_ref but received '{}'",
                      s.diagnose);
  }
  method_of(s);
  check_schedule(s);
}

namespace {

/// As the table of methods or its JSON has it, before the numbers that were given.
Method named_method(const Settings& s) {
  return cli::as_usage([&] {
    return s.method.starts_with('{') ? method_from_json(s.method) : method_by_name(s.method);
  });
}

double lr_of(const Settings& s, const Method& method) {
  if (s.lr) {
    not_negative("lr", *s.lr);
    return *s.lr;
  }
  if (method.estimator == Estimator::constant) {
    throw cli::misuse(kWhere, "expected lr for method {} but received none: there is no usual one",
                      s.method);
  }
  not_negative("adamw_lr", s.adamw_lr);
  return is_adam(method) ? s.adamw_lr : s.adamw_lr / 4;
}

double lambda_of(double decay_rate, double lr) {
  not_negative("decay_rate", decay_rate);
  if (lr > 0 || decay_rate == 0) return decay_rate == 0 ? 0 : decay_rate / lr;
  throw cli::misuse(kWhere, "expected lr > 0 with decay_rate but received {}", lr);
}

}  // namespace

bool is_adam(const Method& method) {
  return method.estimator == Estimator::ema_g && method.direction == Direction::momentum;
}

Method method_of(const Settings& s) {
  return cli::as_usage([&] {
    const Method named = named_method(s);
    MethodOptions options;
    options.beta = s.beta;
    options.beta_v = s.beta_v;
    options.eps = s.eps;
    options.eps_root = s.eps_root;
    options.lambda = s.weight_decay;
    if (s.decay_rate) options.lambda = lambda_of(*s.decay_rate, lr_of(s, named));
    if (s.start == "first") options.start = Start::first;
    if (s.start == "zero") options.start = Start::zero;
    if (s.start == "zero_corrected") options.start = Start::zero_corrected;
    return with(named, options);
  });
}

double lr_of(const Settings& s) { return lr_of(s, named_method(s)); }

std::string other_model(const Settings& a, const Settings& b) {
  std::vector<std::string_view> keys = {"model"};
  const auto add = [&](std::initializer_list<std::string_view> more) {
    keys.insert(keys.end(), more);
  };
  if (a.model == "gpt") {
    add({"layers", "width", "heads", "context", "positions", "activation", "bias", "tied"});
  }
  if (a.model == "resnet") add({"depth"});
  if (a.model == "vit") add({"layers", "width", "heads", "patch"});
  if (a.model == "mlp") add({"hidden"});
  for (const std::string_view key : keys) {
    const Field& field = field_of(key);
    if (text_of(a, field) != text_of(b, field)) return std::string(key);
  }
  return {};
}

std::vector<std::string> diagnoses_of(const Settings& settings) {
  constexpr std::string_view kKnown[] = {"aiming", "signal"};
  if (settings.diagnose.empty()) return {};
  std::vector<std::string> words = cli::split(settings.diagnose, ',');
  for (const std::string& word : words) {
    if (std::ranges::find(kKnown, word) == std::end(kKnown)) {
      throw cli::misuse(kWhere,
                        "expected diagnose as aiming, signal or both with a comma between but "
                        "received '{}'{}",
                        word, suggestion(word, kKnown));
    }
  }
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

std::uint64_t diagnose_every(const Settings& settings, std::uint64_t steps) {
  if (settings.diagnose_every > 0) return settings.diagnose_every;
  return std::max<std::uint64_t>(1, steps / kTimesARun);
}

Schedule schedule_of(const Settings& s, std::uint64_t steps) {
  Schedule schedule;
  schedule.curve = curve_of(s.schedule);
  schedule.alpha_max = lr_of(s);
  schedule.alpha_min = s.lr_floor * schedule.alpha_max;
  schedule.warmup = s.warmup;
  if (s.warmup == 0) {
    schedule.warmup = static_cast<std::uint64_t>(s.warmup_part * static_cast<double>(steps));
  }
  schedule.total = steps;
  schedule.decay_steps = s.decay_steps;
  schedule.milestones = s.milestones;
  schedule.factor = s.factor;
  cli::as_usage([&] { validate(schedule); });
  return schedule;
}

}  // namespace bcos::lab::run
