#include "lab/run/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bcos/methods.hpp"
#include "bcos/text.hpp"
#include "lab/cli/method_text.hpp"

namespace bcos::lab::run {
namespace {

using nlohmann::ordered_json;

/// Settings that are in a recipe in another form than as they are given.
bool is_resolved(std::string_view key) {
  constexpr std::string_view kResolved[] = {
      "seed",   "method", "lr",          "adamw_lr",   "weight_decay", "decay_rate",
      "beta",   "beta_v", "eps",         "eps_root",   "start",        "steps",
      "epochs", "warmup", "warmup_part", "total_batch"};
  return std::ranges::find(kResolved, key) != std::end(kResolved);
}

/// What a method is, and its numbers, each by its own name.
void add_method(const Settings& s, Recipe& recipe) {
  ordered_json what = ordered_json::object();
  const ordered_json method = ordered_json::parse(to_json(method_of(s)));
  for (const auto& [key, value] : method.items()) {
    if (value.is_number()) {
      recipe.trains[key] = value.dump();
    } else {
      what[key] = value;
    }
  }
  recipe.trains["method"] = what.dump();
  recipe.trains["lr"] = fmt::format("{}", lr_of(s));
}

void add_length(const Settings& s, Recipe& recipe) {
  if (s.epochs > 0) {
    recipe.trains["epochs"] = fmt::format("{}", s.epochs);
    recipe.trains["warmup"] =
        s.warmup > 0 ? fmt::format("{}", s.warmup) : fmt::format("{} of the run", s.warmup_part);
    return;
  }
  recipe.trains["steps"] = fmt::format("{}", s.steps);
  recipe.trains["warmup"] = fmt::format("{}", schedule_of(s, s.steps).warmup);
}

}  // namespace

Recipe recipe_of(const Settings& s) {
  Recipe recipe;
  recipe.seed = s.seed;
  const Settings usual;
  for (const Field& field : fields()) {
    const std::string text = text_of(s, field);
    if (field.role == Role::numerics) recipe.numerics[std::string(field.key)] = text;
    if (field.role != Role::trains || is_resolved(field.key)) continue;
    if (text != text_of(usual, field)) recipe.trains[std::string(field.key)] = text;
  }
  add_method(s, recipe);
  add_length(s, recipe);
  const std::uint64_t one = s.batch * (s.model == "gpt" ? s.context : 1);
  if (s.total_batch > one) recipe.trains["total_batch"] = fmt::format("{}", s.total_batch);
  return recipe;
}

std::string Recipe::group_key() const {
  // FNV-1a: the key only names folders.
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash = (hash ^ 0xff) * 0x100000001b3;
  };
  for (const auto& [key, value] : trains) {
    add(key);
    add(value);
  }
  return fmt::format("{:08x}", static_cast<std::uint32_t>(hash ^ hash >> 32));
}

std::string method_name(const Settings& settings) {
  if (!settings.method.starts_with('{')) return settings.method;
  const std::string summary = cli::summary_of(method_of(settings));
  return summary.substr(0, summary.find(','));
}

bool decays_beside(const Method& method) { return method.decay == Decay::decoupled; }

double decay_rate_of(const Settings& settings) {
  return lr_of(settings) * method_of(settings).lambda;
}

}  // namespace bcos::lab::run
