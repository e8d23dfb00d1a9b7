#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "lab/theory/claim.hpp"

namespace bcos::lab::theory {

struct MutantResult {
  std::string what;
  bool caught = false;
  Findings findings;
};

/// A claim that was run, and its mutants if they were asked for.
struct Result {
  const Claim* claim = nullptr;
  Findings findings;
  std::vector<MutantResult> mutants = {};
  double seconds = 0;

  /// The claim holds, and every mutant that was run was caught.
  bool pass() const;
};

struct RunOptions {
  bool full = false;
  bool mutants = false;
  int thin = 1;  ///< as in Setup
  /// Is told which claim is at work and what it is at.
  std::function<void(const Claim&, const std::string&)> stage = [](const Claim&,
                                                                   const std::string&) {};
};

inline constexpr int kColumns = 100;  ///< of texts that nobody looks at in a terminal

/// By check of the result: the numbers of the mutants that clearly miss it, counted from 1; none
/// for printed forms, which are not claimed. Throws Error where a mutant does not make the same
/// checks.
std::vector<std::vector<std::size_t>> broken_by(const Result& result);

/// How many checks of what is claimed are broken by a mutant.
struct Coverage {
  std::size_t broken = 0;
  std::size_t checks = 0;
};
Coverage coverage_of(std::span<const Result> results);

Result run_claim(const Claim& claim, const RunOptions& options);

/// One row a claim, and below what it says, the check that stands for it and what came of the
/// printed form; in lines of `columns` where words and numbers allow it.
std::string results_table(std::span<const Result> results, int columns = kColumns);
/// Every check of a claim, a line each.
std::string checks_text(const Result& result, int columns = kColumns);
/// Every mutant, whether and by what it was caught; every check, by which mutants it is broken; and
/// as the last line how many are: "N of M checks are broken by a mutant".
std::string mutants_text(std::span<const Result> results, int columns = kColumns);

/// All numbers, those of the figures too. Times are left out of what must not change from run to
/// run: they stand under "seconds" alone. The file of a claim's figure in a report:
/// "figures/t05-1.svg" for the first of T5.
std::string figure_file(const Claim& claim, std::size_t index);

nlohmann::ordered_json to_json(std::span<const Result> results, const RunOptions& options);

}  // namespace bcos::lab::theory
