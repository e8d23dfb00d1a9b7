#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/run/presets.hpp"
#include "lab/run/settings.hpp"

/// Which runs a comparison is made of. A cell is one run; it is named after its recipe alone, so
/// that it is the same folder in whatever order or company it is asked for.
namespace bcos::lab::cells {

/// One setting and the values that it takes.
struct Axis {
  std::string key;
  std::vector<std::string> values;
};

/// "beta=0.8,0.9" or, for lists, "milestones=320+480,300+400". Throws UsageError naming the nearest
/// setting, an empty or repeated value, or a setting that cannot be varied.
Axis axis_of(std::string_view text);

/// "1-5,8" or "0,1,2". Throws UsageError.
std::vector<std::uint64_t> seeds_of(std::string_view text);

/// A grid of learning rates that grows until the best lies inside. One seed chooses.
struct Growth {
  double factor = 2;
  std::size_t most = 9;  ///< rates; then the best is called an edge
  std::uint64_t seed = 0;
};

struct Grid {
  run::Settings base;
  run::Settings preset;  ///< what the base was made from
  std::vector<run::MethodEntry> methods;
  std::vector<double> lrs;        ///< for every method as they are
  std::vector<double> adamw_lrs;  ///< AdamW's: each method takes what follows for it
  std::vector<Axis> axes;
  std::vector<std::uint64_t> seeds = {0};
  std::optional<Growth> growth;
  /// The same alpha x lambda for all methods that decay beside the step, that of AdamW with lambda
  /// .1, but where decay is varied or given.
  bool equal_decay = true;
};

/// The final validation loss of a finished cell, infinity of a diverged one, nothing of others.
using Finished = std::function<std::optional<double>(const run::Settings& cell)>;

/// The settings of every cell, one seed of everything before the next; a function of the grid and
/// of what is finished: a grid that grows asks for more when some of its cells are there. Throws
/// UsageError for a wrong cell.
std::vector<run::Settings> cells_of(const Grid& grid, const Finished& finished);

/// "adamw-lr0.016-3fa92b1c-s0".
std::string name_of_cell(const run::Settings& settings);

}  // namespace bcos::lab::cells
