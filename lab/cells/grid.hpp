#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lab/run/settings.hpp"

namespace bcos::lab::cells {

/// What `bcos compare` varies.
struct GridOptions {
  /// Methods with commas between, each with settings of its own: "adamw:beta_v=0.95,bcosw_c".
  std::string methods = "adamw,bcosw_c";
  std::vector<double> lrs;        ///< for every method as they are
  std::vector<double> adamw_lrs;  ///< AdamW's: each method takes what follows for it
  std::vector<std::uint64_t> seeds = {0};
};

/// The settings of every run, named after what tells them apart. Throws UsageError.
std::vector<run::Settings> grid_of(const run::Settings& base, const GridOptions& options);

}  // namespace bcos::lab::cells
