#include "lab/cells/grid.hpp"

#include <fmt/format.h>

#include <set>

#include "lab/cli/usage.hpp"
#include "lab/run/presets.hpp"

namespace bcos::lab::cells {
namespace {

/// The base with a method and the settings that are its own.
run::Settings with_method(run::Settings settings, const run::MethodEntry& entry) {
  settings.method = entry.method;
  for (const auto& [key, value] : entry.settings)
    run::set_field(settings, run::field_of(key), value);
  return settings;
}

std::vector<run::Settings> with_lrs(const run::Settings& settings, const GridOptions& options) {
  std::vector<run::Settings> list;
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

std::vector<run::Settings> grid_of(const run::Settings& base, const GridOptions& options) {
  std::vector<run::Settings> cells;
  std::set<std::string> names;
  for (const run::MethodEntry& method : run::method_entries(options.methods)) {
    for (const run::Settings& with_lr : with_lrs(with_method(base, method), options)) {
      for (const std::uint64_t seed : options.seeds) {
        run::Settings cell = with_lr;
        cell.seed = seed;
        run::validate(cell);
        cell.lr = run::lr_of(cell);
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

}  // namespace bcos::lab::cells
