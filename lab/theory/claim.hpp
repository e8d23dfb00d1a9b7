#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/theory/findings.hpp"
#include "lab/theory/noise.hpp"

namespace bcos::lab::theory {

/// How a claim is to be run.
class Setup {
 public:
  bool full = false;  ///< replicates and horizons of the specification, else fewer
  int mutant = 0;     ///< which wrong formula is put in, counted from 1; 0: none
  int thin = 1;       ///< divides replicates and horizons, for tests that compare runs alone
  /// Is told what a claim is at, now and then.
  std::function<void(const std::string&)> stage = [](const std::string&) {};

  /// How many replicates, steps or points to take.
  std::uint64_t scaled(std::uint64_t quick, std::uint64_t whole) const {
    return std::max<std::uint64_t>(1, (full ? whole : quick) / static_cast<std::uint64_t>(thin));
  }
  /// The right formula, or the wrong one if this mutant is being run.
  template <class T>
  T right(T right_one, T wrong_one, int which = 1) const {
    return mutant == which ? wrong_one : right_one;
  }
};

/// A prediction of the paper and the experiment that tests it.
struct Claim {
  std::string id;                         ///< "T5"
  std::string name;                       ///< what the paper calls it: "Theorem 5.7"
  std::string title;                      ///< a few words: "rate 1/t"
  std::string statement;                  ///< what is claimed, in a sentence or two of plain text
  std::vector<std::string> errata = {};   ///< "E3: the rate constants are loose: ..."
  std::vector<std::string> mutants = {};  ///< what each mutant gets wrong
  void (*run)(const Setup& setup, Findings& findings) = nullptr;
};

/// T1 to T24: all that registered, by number.
std::span<const Claim> claims();
/// Case does not matter. Throws Error naming the nearest id, or the nearest of other words that
/// could have been meant.
const Claim& claim_by_id(const std::string& id, std::span<const std::string_view> others = {});

struct RegisterClaim {
  explicit RegisterClaim(Claim claim);
};

}  // namespace bcos::lab::theory
