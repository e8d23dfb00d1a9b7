#include "lab/cells/grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "lab/cli/options.hpp"
#include "lab/cli/usage.hpp"
#include "lab/run/recipe.hpp"

namespace bcos::lab::cells {
namespace {

using run::Settings;

constexpr std::string_view kWhere = "compare";
/// Rates are rounded to so many digits: the same rate is the same cell however it was reached.
constexpr int kRateDigits = 12;

void set(Settings& settings, const std::string& key, const std::string& value) {
  run::set_field(settings, run::field_of(key), value);
}

double rounded(double rate) {
  return cli::real_of(fmt::format("{:.{}g}", rate, kRateDigits)).value_or(rate);
}

/// alpha x lambda stays what it is when alpha is varied.
void hold_decay_rate(Settings& settings, double rate) {
  settings.weight_decay = std::nullopt;
  settings.decay_rate = rounded(rate);
}

bool sets_decay(const std::vector<std::pair<std::string, std::string>>& settings) {
  return std::ranges::any_of(settings, [](const auto& setting) {
    const std::string_view key = run::field_of(setting.first).key;
    return key == "weight_decay" || key == "decay_rate";
  });
}

bool is_varied(const Grid& grid, std::string_view key) {
  return std::ranges::any_of(grid.axes, [&](const Axis& axis) { return axis.key == key; });
}

/// Whether the base says of this setting something else than its preset.
bool is_given(const Grid& grid, const std::string& key) {
  const auto differs = [&](std::string_view one) {
    const run::Field& field = run::field_of(one);
    return run::text_of(grid.base, field) != run::text_of(grid.preset, field);
  };
  return differs(key) || (key == "weight_decay" && differs("decay_rate"));
}

/// The base with each method and the settings that are its own.
std::vector<Settings> bases_of(const Grid& grid) {
  std::vector<Settings> bases;
  for (const run::MethodEntry& entry : grid.methods) {
    Settings& one = bases.emplace_back(grid.base);
    one.method = entry.method;
    for (const auto& [key, value] : entry.usual) {
      if (!is_given(grid, key)) set(one, key, value);
    }
    for (const auto& [key, value] : entry.settings) set(one, key, value);
  }
  return bases;
}

/// AdamW's at its usual lambda, whether it is one of the methods or not: a cell must not depend on
/// its company.
double common_rate(const Settings& base) {
  constexpr double kUsualLambda = 0.1;
  return base.lr.value_or(base.adamw_lr) * kUsualLambda;
}

void equalise_decay(const Grid& grid, std::vector<Settings>& bases) {
  const bool given = is_given(grid, "weight_decay") || is_varied(grid, "weight_decay") ||
                     is_varied(grid, "decay_rate") || is_varied(grid, "method");
  if (!grid.equal_decay || given) return;
  const double rate = common_rate(grid.base);
  for (std::size_t i = 0; i < bases.size(); ++i) {
    if (!sets_decay(grid.methods[i].settings) && run::decays_beside(run::method_of(bases[i])))
      hold_decay_rate(bases[i], rate);
  }
}

/// Every combination of the axes' values, the last axis fastest.
std::vector<Settings> varied(const std::vector<Settings>& bases, const std::vector<Axis>& axes) {
  std::vector<Settings> list = bases;
  for (const Axis& axis : axes) {
    std::vector<Settings> next;
    for (const Settings& one : list) {
      for (const std::string& value : axis.values) set(next.emplace_back(one), axis.key, value);
    }
    list = std::move(next);
  }
  return list;
}

std::vector<Settings> with_rates(const Settings& settings, const Grid& grid) {
  std::vector<Settings> list;
  for (const double lr : grid.lrs) list.emplace_back(settings).lr = lr;
  for (const double lr : grid.adamw_lrs) {
    Settings& one = list.emplace_back(settings);
    one.adamw_lr = lr;
    one.lr = std::nullopt;
  }
  if (list.empty()) list.push_back(settings);
  return list;
}

Settings cell_of(Settings settings, std::uint64_t seed) {
  settings.seed = seed;
  settings.name.clear();
  run::validate(settings);
  settings.name = name_of_cell(settings);
  return settings;
}

/// The rates of one growing grid: alpha times powers of the factor, from low to high.
class Rates {
 public:
  Rates(const Settings& settings, const Growth& growth, const Finished& finished)
      : settings_(settings), growth_(growth), finished_(finished), alpha_(run::lr_of(settings)) {
    if (run::decays_beside(run::method_of(settings))) {
      hold_decay_rate(settings_, run::decay_rate_of(settings));
    }
    for (int k = -1; k <= 1; ++k) look(k);
    while (grows()) {
    }
  }

  /// What the choosing seed has to run: all that was looked at.
  std::vector<Settings> asked() const {
    std::vector<Settings> cells;
    cells.reserve(losses_.size());
    for (const auto& [k, loss] : losses_) cells.push_back(cell(k, growth_.seed));
    return cells;
  }
  /// The best rate, once all that was asked for is there.
  std::optional<Settings> chosen(std::uint64_t seed) const {
    const auto best = best_power();
    return best && complete() ? std::optional(cell(*best, seed)) : std::nullopt;
  }

 private:
  Settings cell(int power, std::uint64_t seed) const {
    Settings one = settings_;
    one.lr = rounded(alpha_ * std::pow(growth_.factor, power));
    return cell_of(std::move(one), seed);
  }
  void look(int power) { losses_[power] = finished_(cell(power, growth_.seed)); }
  bool complete() const {
    return std::ranges::all_of(losses_, [](const auto& entry) { return entry.second.has_value(); });
  }
  std::optional<int> best_power() const {
    std::optional<int> best;
    for (const auto& [k, loss] : losses_) {
      if (loss && std::isfinite(*loss) && (!best || *loss < *losses_.at(*best))) best = k;
    }
    return best;
  }
  /// Adds the next rate beyond an end that is the best, if what is there says so.
  bool grows() {
    if (!complete() || losses_.size() >= growth_.most) return false;
    const std::optional<int> best = best_power();
    const int low = losses_.begin()->first;
    const int high = losses_.rbegin()->first;
    if (!best || *best == low) {  // where all diverge, lower rates may not
      look(low - 1);
    } else if (*best == high) {
      look(high + 1);
    } else {
      return false;
    }
    return true;
  }

  Settings settings_;
  const Growth& growth_;
  const Finished& finished_;
  double alpha_;
  std::map<int, std::optional<double>> losses_;
};

std::vector<Settings> growing(const std::vector<Settings>& combinations, const Grid& grid,
                              const Finished& finished) {
  std::vector<Rates> rates;
  rates.reserve(combinations.size());
  for (const Settings& one : combinations) rates.emplace_back(one, *grid.growth, finished);
  std::vector<Settings> cells;
  for (const Rates& one : rates) {
    for (Settings& cell : one.asked()) cells.push_back(std::move(cell));
  }
  for (const std::uint64_t seed : grid.seeds) {
    if (seed == grid.growth->seed) continue;
    for (const Rates& one : rates) {
      if (auto cell = one.chosen(seed)) cells.push_back(std::move(*cell));
    }
  }
  return cells;
}

void check_axes(const Grid& grid) {
  std::set<std::string> keys;
  for (const Axis& axis : grid.axes) {
    if (!keys.insert(axis.key).second) {
      throw cli::misuse(kWhere, "expected --vary {} once but received it twice", axis.key);
    }
  }
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  run::refuse_doubles(views);
  const bool rates = keys.contains("lr") || keys.contains("adamw_lr");
  if (rates && (grid.growth || !grid.lrs.empty() || !grid.adamw_lrs.empty())) {
    throw cli::misuse(kWhere,
                      "expected learning rates from one of --vary, --grow, --lrs and --adamw-lrs "
                      "but received several");
  }
  if (grid.growth && (!grid.lrs.empty() || !grid.adamw_lrs.empty())) {
    throw cli::misuse(kWhere, "expected only one of --grow and --lrs or --adamw-lrs");
  }
}

}  // namespace

Axis axis_of(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    throw cli::misuse(kWhere, "expected --vary as KEY=V,V but received '{}'", text);
  }
  const run::Field& field = run::field_of(text.substr(0, equals));
  if (field.role == run::Role::place || field.key == "seed") {
    throw cli::misuse(kWhere, "expected a setting that can be varied but received '{}'{}",
                      field.key, field.key == "seed" ? ": see --seeds" : "");
  }
  Axis axis{std::string(field.key), {}};
  const bool lists =
      std::holds_alternative<std::vector<std::uint64_t> run::Settings::*>(field.member);
  for (std::string& value : run::parts_of(text.substr(equals + 1), ',')) {
    if (lists) std::ranges::replace(value, '+', ',');
    if (value.empty() || std::ranges::find(axis.values, value) != axis.values.end()) {
      throw cli::misuse(kWhere, "expected different values of {} but received '{}'", axis.key,
                        text.substr(equals + 1));
    }
    axis.values.push_back(std::move(value));
  }
  return axis;
}

std::vector<std::uint64_t> seeds_of(std::string_view text) {
  constexpr std::uint64_t kMostSeeds = 1000;
  const auto wrong = [&] {
    return cli::misuse(kWhere,
                       "expected --seeds as different seeds, 0,1,2 or 1-5, but received "
                       "'{}'",
                       text);
  };
  std::vector<std::uint64_t> seeds;
  for (const std::string& part : cli::split(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = cli::whole_of(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : cli::whole_of(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first >= kMostSeeds) throw wrong();
    for (std::uint64_t seed = *first; seed <= *last; ++seed) seeds.push_back(seed);
  }
  if (std::set(seeds.begin(), seeds.end()).size() < seeds.size()) throw wrong();
  return seeds;
}

std::string name_of_cell(const run::Settings& settings) {
  const run::Recipe recipe = run::recipe_of(settings);
  std::string name = fmt::format("{}-lr{:g}-{}-s{}", run::method_name(settings),
                                 run::lr_of(settings), recipe.group_key(), settings.seed);
  if (settings.threads != 1) name += fmt::format("-t{}", settings.threads);
  return name;
}

std::vector<run::Settings> cells_of(const Grid& grid, const Finished& finished) {
  check_axes(grid);
  std::vector<Settings> bases = bases_of(grid);
  equalise_decay(grid, bases);
  const std::vector<Settings> combinations = varied(bases, grid.axes);
  if (grid.growth) return growing(combinations, grid, finished);
  std::vector<Settings> cells;
  std::set<std::string> names;
  for (const std::uint64_t seed : grid.seeds) {
    for (const Settings& one : combinations) {
      for (const Settings& with_rate : with_rates(one, grid)) {
        Settings cell = cell_of(with_rate, seed);
        if (names.insert(cell.name).second) cells.push_back(std::move(cell));
      }
    }
  }
  return cells;
}

}  // namespace bcos::lab::cells
