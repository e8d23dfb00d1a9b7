#include "lab/run/flags.hpp"

#include <algorithm>

#include "lab/cli/files.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/usage.hpp"
#include "lab/run/presets.hpp"

namespace bcos::lab::run {
namespace {

std::string help_of(const Field& field) {
  const std::string usual = text_of(Settings{}, field);
  return usual.empty() ? std::string(field.help) : fmt::format("{} ({})", field.help, usual);
}

}  // namespace

void add_setting_options(CLI::App& app, SettingOptions& options,
                         std::span<const std::string_view> without) {
  cli::add_text(app, "--config", "FILE", options.config, "settings as TOML, the same names");
  for (const Field& field : fields()) {
    if (std::ranges::find(without, field.key) != without.end()) continue;
    cli::add_value(app, cli::option_of(field.key), kind_of(field), help_of(field),
                   [&options, &field](const std::string& text) {
                     Settings checked;
                     set_field(checked, field, text);
                     options.given[std::string(field.key)] = text;
                   })
        ->group(fmt::format("Settings: {}", field.group));
  }
}

namespace {

void refuse_doubles_of(const std::map<std::string, std::string>& given) {
  std::vector<std::string_view> keys;
  keys.reserve(given.size());
  for (const auto& [key, value] : given) keys.emplace_back(key);
  refuse_doubles(keys);
}

/// A file of all settings, as a run leaves one, says itself what preset it is.
void refuse_two_presets(const std::string& given, const std::string& text,
                        const std::string& path) {
  Settings marked;
  marked.preset = given;
  const std::string file = settings_from_toml(marked, text, path).preset;
  if (file == given) return;
  throw cli::misuse("train",
                    "expected one preset but received --preset {} and preset = '{}' in '{}'", given,
                    file, path);
}

}  // namespace

namespace {

std::string text_of(const SettingOptions& options) {
  return options.config.empty() ? std::string() : cli::read_text(options.config);
}

std::string given_or(const SettingOptions& options, const char* key, const std::string& otherwise) {
  const auto found = options.given.find(key);
  return found == options.given.end() ? otherwise : found->second;
}

}  // namespace

std::string preset_named(const SettingOptions& options) {
  const std::string text = text_of(options);
  const std::string file = settings_from_toml({}, text, options.config).preset;
  if (options.given.contains("preset")) {
    refuse_two_presets(options.given.at("preset"), text, options.config);
  }
  return given_or(options, "preset", file);
}

bool is_of_a_run(const SettingOptions& options) {
  Settings marked;
  marked.name = "/";  // no run is called so
  return !options.config.empty() &&
         settings_from_toml(marked, text_of(options), options.config).name != marked.name;
}

Settings settings_of(const SettingOptions& options) {
  refuse_doubles_of(options.given);
  const std::string text = text_of(options);
  const std::string preset = preset_named(options);
  Settings settings;
  if (!preset.empty()) {
    const std::string file = settings_from_toml({}, text, options.config).method;
    settings = settings_of(preset_of(preset), given_or(options, "method", file));
  }
  settings = settings_from_toml(settings, text, options.config);
  settings.preset = preset;
  for (const auto& [key, value] : options.given) set_field(settings, field_of(key), value);
  return settings;
}

std::string settings_table(const Settings& settings) {
  constexpr std::size_t kWidth = 100;
  const Settings usual;
  std::string text;
  std::string line;
  std::string_view group;
  for (const Field& field : fields()) {
    const std::string value = text_of(settings, field);
    if (value.empty()) continue;
    const bool changed = value != text_of(usual, field);
    const std::string item = fmt::format("{} {}{}", field.key, value, changed ? "*" : "");
    const bool fits = line.size() + item.size() + 3 <= kWidth;
    if (field.group == group && fits) {
      line += ", " + item;
      continue;
    }
    if (!line.empty()) text += line + "\n";
    line = fmt::format("  {:<10} {}", field.group == group ? "" : field.group, item);
    group = field.group;
  }
  return text + line + "\n";
}

}  // namespace bcos::lab::run
