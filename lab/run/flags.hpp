#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "lab/run/settings.hpp"

namespace bcos::lab::run {

/// What the command line says of the settings: --config FILE and one option a setting.
struct SettingOptions {
  std::string config;
  std::map<std::string, std::string> given;
};

/// Adds --config and the settings, grouped as in the table; those in `without` are left out.
void add_setting_options(CLI::App& app, SettingOptions& options,
                         std::span<const std::string_view> without = {});

/// The name of the preset that the settings begin from; empty if none.
std::string preset_named(const SettingOptions& options);

/// Whether the config file is what a run has left behind, which names the run.
bool is_of_a_run(const SettingOptions& options);

/// Defaults < preset < config file < flags.
Settings settings_of(const SettingOptions& options);

/// The settings, a line or two a group; those that differ from the defaults have a star.
std::string settings_table(const Settings& settings);

}  // namespace bcos::lab::run
