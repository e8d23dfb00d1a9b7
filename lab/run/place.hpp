#pragma once

#include <string>

#include "lab/run/settings.hpp"

/// What a run is called and where it lies.
namespace bcos::lab::run {

/// The name of a run: as given, or made of what tells it from others.
std::string name_of(const Settings& settings);

std::string directory_of(const Settings& settings);

std::string config_of(const std::string& directory);

/// The settings that a run's folder was made with. Throws Error(io), UsageError.
Settings settings_in(const std::string& directory);

/// What stands against going on with the run in a folder under these settings: the first setting
/// that trains and differs, as a sentence; empty if nothing does. More steps, or another end of the
/// schedule, are no obstacle where every step that was taken had the same learning rate.
std::string conflict_with(const Settings& settings, const std::string& directory);

}  // namespace bcos::lab::run
