#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lab/training/settings.hpp"

namespace bcos::lab {

struct Preset {
  std::string_view name;
  std::string_view about;
  std::string_view methods;  ///< what `bcos compare` runs, see CompareOptions
  Settings settings;
};
std::span<const Preset> presets();

/// Throws UsageError naming the nearest.
const Preset& preset_of(std::string_view name);

}  // namespace bcos::lab
