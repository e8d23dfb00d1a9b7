#include "lab/run/place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "lab/cli/files.hpp"
#include "lab/run/checkpoint_store.hpp"
#include "lab/run/recipe.hpp"

namespace bcos::lab::run {
namespace {

bool is_of_the_schedule(std::string_view key) {
  constexpr std::string_view kKeys[] = {"steps",    "epochs",      "warmup",     "schedule",
                                        "lr_floor", "decay_steps", "milestones", "factor"};
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

/// The first key that differs, of the schedule if no other does.
std::string first_difference(const Recipe& now, const Recipe& then) {
  std::string found;
  const auto look = [&](const Recipe& a, const Recipe& b) {
    for (const auto& [key, value] : a.trains) {
      const auto other = b.trains.find(key);
      if (other != b.trains.end() && other->second == value) continue;
      if (found.empty() || is_of_the_schedule(found)) found = key;
    }
  };
  look(now, then);
  look(then, now);
  return found;
}

std::string value_of(const Recipe& recipe, const std::string& key) {
  const auto found = recipe.trains.find(key);
  if (found != recipe.trains.end()) return found->second;
  for (const Field& field : fields()) {
    if (field.key == key) return text_of(Settings{}, field);
  }
  return {};
}

/// The last step that the folder can go on from.
std::uint64_t steps_done(const std::string& directory) {
  std::vector<std::string> ignored;
  const auto latest = latest_checkpoint(directory + "/checkpoints", ignored);
  return latest ? latest->step : 0;
}

/// The first step below `done` whose learning rate is another, if there is one.
std::optional<std::uint64_t> first_other_rate(const Settings& now, const Settings& then,
                                              std::uint64_t done) {
  const Schedule a = schedule_of(now, now.steps);
  const Schedule b = schedule_of(then, then.steps);
  for (std::uint64_t t = 0; t < done; ++t) {
    if (alpha_at(a, t) != alpha_at(b, t)) return t;
  }
  return {};
}

}  // namespace

std::string name_of(const Settings& settings) {
  if (!settings.name.empty()) return settings.name;
  const std::string what = settings.preset.empty() ? settings.model : settings.preset;
  return fmt::format("{}-{}-lr{:g}-seed{}", what, method_name(settings), lr_of(settings),
                     settings.seed);
}

std::string directory_of(const Settings& settings) {
  return settings.out + "/" + name_of(settings);
}

std::string config_of(const std::string& directory) { return directory + "/config.toml"; }

Settings settings_in(const std::string& directory) {
  const std::string path = config_of(directory);
  return settings_from_toml({}, cli::read_text(path), path);
}

std::string conflict_with(const Settings& settings, const std::string& directory) {
  const Settings before = settings_in(directory);
  const Recipe now = recipe_of(settings);
  const Recipe then = recipe_of(before);
  if (now.seed != then.seed) {
    return fmt::format("expected seed = '{}' as in '{}' but received '{}'", then.seed,
                       config_of(directory), now.seed);
  }
  const std::string key = first_difference(now, then);
  if (key.empty()) return {};
  const bool counted = settings.epochs == 0 && before.epochs == 0;
  if (is_of_the_schedule(key) && counted) {
    const std::uint64_t done = steps_done(directory);
    const auto other = first_other_rate(settings, before, std::min(done, settings.steps));
    if (!other && settings.steps >= done) return {};
    return fmt::format(
        "expected learning rates as before up to step {} of '{}' but those of {} = '{}' differ "
        "from step {} on: --branch begins another run from a checkpoint",
        done, directory, key, value_of(now, key), other.value_or(settings.steps));
  }
  return fmt::format("expected {} = '{}' as in '{}' but received '{}'", key, value_of(then, key),
                     config_of(directory), value_of(now, key));
}

}  // namespace bcos::lab::run
