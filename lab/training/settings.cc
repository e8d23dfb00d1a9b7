#include "lab/training/settings.hpp"

#include <algorithm>

#include "bcos/methods.hpp"
#include "bcos/text.hpp"
#include "engine/error.hpp"
#include "lab/cli/usage.hpp"
#include "lab/training/diagnosis.hpp"

namespace bcos::lab {
namespace {

constexpr std::string_view kWhere = "train";

void at_least(std::string_view key, std::uint64_t value, std::uint64_t least) {
  if (value < least) {
    throw misuse(kWhere, "expected {} >= {} but received {}", key, least, value);
  }
}

void in_unit(std::string_view key, double value, bool one_is_fine) {
  if (!(value >= 0 && (one_is_fine ? value <= 1 : value < 1))) {
    throw misuse(kWhere, "expected {} in [0, 1{} but received {}", key, one_is_fine ? "]" : ")",
                 value);
  }
}

void not_negative(std::string_view key, double value) {
  if (!(value >= 0)) throw misuse(kWhere, "expected {} >= 0 but received {}", key, value);
}

Curve curve_of(const std::string& schedule) {
  if (schedule == "cosine") return Curve::cosine;
  if (schedule == "linear") return Curve::linear;
  if (schedule == "wsd") return Curve::wsd;
  return schedule == "step" ? Curve::step : Curve::constant;
}

}  // namespace

void validate(const Settings& s) {
  at_least("batch", s.batch, 1);
  at_least("steps", s.steps, 1);
  at_least("eval_every", s.eval_every, 1);
  at_least("keep", s.keep, 1);
  at_least("log_every", s.log_every, 1);
  at_least("most_bad_steps", s.most_bad_steps, 1);
  at_least("layers", s.layers, 1);
  at_least("context", s.context, 1);
  in_unit("dropout", s.dropout, false);
  in_unit("drop_path", s.drop_path, false);
  in_unit("label_smoothing", s.label_smoothing, false);
  as_usage([&] { check(augment_of(s)); });
  in_unit("lr_floor", s.lr_floor, true);
  if (!(s.val_fraction > 0 && s.val_fraction < 1)) {
    throw misuse(kWhere, "expected val_fraction in (0, 1) but received {}", s.val_fraction);
  }
  not_negative("epochs", s.epochs);
  not_negative("clip", s.clip);
  in_unit("warmup_part", s.warmup_part, true);
  if (s.model == "gpt" && s.epochs > 0) {
    throw misuse(kWhere, "expected steps for model gpt but received epochs = {}", s.epochs);
  }
  if (s.model == "gpt" && s.total_batch % (s.batch * s.context) != 0) {
    throw misuse(kWhere,
                 "expected total_batch as a multiple of batch x context = {} tokens but received "
                 "{}",
                 s.batch * s.context, s.total_batch);
  }
  if (s.model != "gpt" && s.total_batch % s.batch != 0) {
    throw misuse(kWhere, "expected total_batch as a multiple of batch = {} images but received {}",
                 s.batch, s.total_batch);
  }
  const std::vector<std::string> diagnoses = diagnoses_of(s);
  if (!s.diagnose_ref.empty() && std::ranges::find(diagnoses, "aiming") == diagnoses.end()) {
    throw misuse(kWhere, "expected diagnose = aiming with diagnose_ref but received '{}'",
                 s.diagnose);
  }
  method_of(s);
  lr_of(s);
  if (s.epochs == 0) schedule_of(s, s.steps);
}

Method method_of(const Settings& s) {
  return as_usage([&] {
    const Method& named = method_by_name(s.method);
    MethodOptions options;
    options.beta = s.beta;
    options.beta_v = s.beta_v;
    options.eps = s.eps;
    options.eps_root = s.eps_root;
    options.lambda = s.weight_decay;
    if (s.start == "first") options.start = Start::first;
    if (s.start == "zero") options.start = Start::zero;
    if (s.start == "zero_corrected") options.start = Start::zero_corrected;
    return with(named, options);
  });
}

double lr_of(const Settings& s) {
  if (s.lr) {
    not_negative("lr", *s.lr);
    return *s.lr;
  }
  const Method method = method_of(s);
  if (method.estimator == Estimator::constant) {
    throw misuse(kWhere, "expected lr for method {} but received none: there is no usual one",
                 s.method);
  }
  // Adam's v remembers more of g than of m, so its steps are about four times shorter.
  const bool adam = method.estimator == Estimator::ema_g && method.direction == Direction::momentum;
  return adam ? s.adamw_lr : s.adamw_lr / 4;
}

Augment augment_of(const Settings& s) {
  // Small images are cropped out of a frame of this many black pixels, as is usual for CIFAR.
  constexpr int kCropPadding = 4;
  Augment augment;
  if (s.augment) {
    augment.crop_padding = kCropPadding;
    augment.flip = true;
    augment.smallest_crop = s.smallest_crop;
  }
  augment.erase = s.erase;
  augment.mixup = s.mixup;
  augment.cutmix = s.cutmix;
  return augment;
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
  as_usage([&] { validate(schedule); });
  return schedule;
}

}  // namespace bcos::lab
