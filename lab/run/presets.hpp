#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/run/settings.hpp"

namespace bcos::lab::run {

struct Preset {
  std::string_view name;
  std::string_view about;
  std::string_view methods;  ///< what `bcos compare` runs, each method with its own settings
  Settings settings;
};
std::span<const Preset> presets();

/// Throws UsageError naming the nearest.
const Preset& preset_of(std::string_view name);

/// "bcosw_c:beta=0.8" without the name: what a method of a preset or of `--methods` sets beside it.
using MethodSettings = std::vector<std::pair<std::string, std::string>>;

struct MethodEntry {
  std::string method;
  MethodSettings settings;
  MethodSettings usual = {};  ///< a preset's, which flags and other rules may change
};

/// "adamw:beta_v=0.95,bcosw_c", methods as JSON, or @FILE with one. Throws UsageError.
std::vector<MethodEntry> method_entries(std::string_view text);

/// The parts of a text between separators; those inside brackets of JSON do not part.
std::vector<std::string> parts_of(std::string_view text, char separator);

/// The settings of the preset that begin a run with this method.
Settings settings_of(const Preset& preset, const std::string& method);

}  // namespace bcos::lab::run
