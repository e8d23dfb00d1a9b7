#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "lab/run/settings.hpp"

namespace bcos::lab::run {

/// What decides the weights of a run, with nothing left to defaults or to two names of one thing:
/// bcosw_c and bcosw_c with beta = 0.9 are one recipe.
struct Recipe {
  std::map<std::string, std::string> trains;    ///< settings at their usual value are left out
  std::map<std::string, std::string> numerics;  ///< decide the last digits alone
  std::uint64_t seed = 0;

  bool operator==(const Recipe&) const = default;
  /// Eight hexadecimal digits over `trains`: recipes that differ in the seed alone share it.
  std::string group_key() const;
};

/// Throws UsageError where the settings have no method or learning rate.
Recipe recipe_of(const Settings& settings);

/// "bcosw_c"; of a method written as JSON the named one that it is or lies nearest to.
std::string method_name(const Settings& settings);

/// Whether lambda acts on x beside the step, so that alpha x lambda is the rate of decay.
bool decays_beside(const Method& method);

/// What is called `decay_rate`: alpha x lambda at the peak.
double decay_rate_of(const Settings& settings);

}  // namespace bcos::lab::run
