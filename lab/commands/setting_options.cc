#include "lab/commands/setting_options.hpp"

#include <algorithm>

#include "lab/cli/files.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/usage.hpp"
#include "lab/training/presets.hpp"

namespace bcos::lab {
namespace {

std::string help_of(const Field& field) {
  const std::string usual = text_of(Settings{}, field);
  return usual.empty() ? std::string(field.help) : fmt::format("{} ({})", field.help, usual);
}

}  // namespace

void add_setting_options(CLI::App& app, SettingOptions& options,
                         std::span<const std::string_view> without) {
  add_text(app, "--config", "FILE", options.config, "settings as TOML, the same names");
  for (const Field& field : fields()) {
    if (std::ranges::find(without, field.key) != without.end()) continue;
    add_value(app, option_of(field.key), kind_of(field), help_of(field),
              [&options, &field](const std::string& text) {
                Settings checked;
                set_field(checked, field, text);
                options.given[std::string(field.key)] = text;
              })
        ->group(fmt::format("Settings: {}", field.group));
  }
}

Settings settings_of(const SettingOptions& options) {
  const std::string text = options.config.empty() ? std::string() : read_text(options.config);
  Settings from_file;
  if (!text.empty()) from_file = settings_from_toml({}, text, options.config);
  std::string preset = from_file.preset;
  if (const auto given = options.given.find("preset"); given != options.given.end()) {
    preset = given->second;
  }
  Settings settings = preset.empty() ? Settings{} : preset_of(preset).settings;
  if (!text.empty()) settings = settings_from_toml(settings, text, options.config);
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

}  // namespace bcos::lab
