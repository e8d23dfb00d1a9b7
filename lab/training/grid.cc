#include "lab/training/grid.hpp"

#include <fmt/format.h>

#include <set>

#include "lab/cli/usage.hpp"
#include "lab/training/presets.hpp"

namespace bcos::lab {
namespace {

/// The base with a method and the settings that are its own.
Settings with_method(Settings settings, const MethodEntry& entry) {
  settings.method = entry.method;
  for (const auto& [key, value] : entry.settings) set_field(settings, field_of(key), value);
  return settings;
}

std::vector<Settings> with_lrs(const Settings& settings, const GridOptions& options) {
  std::vector<Settings> list;
  for (const double lr : options.lrs) {
    list.push_back(settings);
    list.back().lr = lr;
  }
  for (const double lr : options.adamw_lrs) {
    list.push_back(settings);
    list.back().adamw_lr = lr;
    list.back().lr = std::nullopt;
  }
  if (list.empty()) list.push_back(settings);
  return list;
}

}  // namespace

std::vector<Settings> grid_of(const Settings& base, const GridOptions& options) {
  std::vector<Settings> cells;
  std::set<std::string> names;
  for (const MethodEntry& method : method_entries(options.methods)) {
    for (const Settings& with_lr : with_lrs(with_method(base, method), options)) {
      for (const std::uint64_t seed : options.seeds) {
        Settings cell = with_lr;
        cell.seed = seed;
        validate(cell);
        cell.lr = lr_of(cell);
        cell.name = fmt::format("{}-lr{:g}-seed{}", cell.method, *cell.lr, seed);
        for (int k = 2; !names.insert(cell.name).second; ++k) {
          cell.name = fmt::format("{}-lr{:g}-seed{}-{}", cell.method, *cell.lr, seed, k);
        }
        cells.push_back(std::move(cell));
      }
    }
  }
  return cells;
}

}  // namespace bcos::lab
