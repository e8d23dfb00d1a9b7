#include "lab/theory/results.hpp"

#include <algorithm>
#include <chrono>

#include "engine/error.hpp"

namespace bcos::lab::theory {

bool Result::pass() const {
  return findings.pass() &&
         std::ranges::all_of(mutants, [](const MutantResult& mutant) { return mutant.caught; });
}

std::vector<std::vector<std::size_t>> broken_by(const Result& result) {
  const auto& checks = result.findings.checks();
  std::vector<std::vector<std::size_t>> by(checks.size());
  for (std::size_t k = 0; k < result.mutants.size(); ++k) {
    const auto& wrong = result.mutants[k].findings.checks();
    if (wrong.size() != checks.size()) {
      throw fail("theory", "expected {} checks of mutant {} of {} but received {}", checks.size(),
                 k + 1, result.claim->id, wrong.size());
    }
    for (std::size_t i = 0; i < checks.size(); ++i) {
      // A printed form is no check of the claim.
      if (checks[i].form != Form::printed && wrong[i].clearly_missed()) by[i].push_back(k + 1);
    }
  }
  return by;
}

Coverage coverage_of(std::span<const Result> results) {
  Coverage coverage;
  for (const Result& result : results) {
    const auto by = broken_by(result);
    for (std::size_t i = 0; i < by.size(); ++i) {
      if (result.findings.checks()[i].form == Form::printed) continue;
      ++coverage.checks;
      coverage.broken += by[i].empty() ? 0 : 1;
    }
  }
  return coverage;
}

Result run_claim(const Claim& claim, const RunOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  Result result;
  result.claim = &claim;
  Setup setup;
  setup.full = options.full;
  setup.thin = options.thin;
  setup.stage = [&](const std::string& what) { options.stage(claim, what); };
  setup.stage("");
  claim.run(setup, result.findings);
  for (std::size_t i = 0; options.mutants && i < claim.mutants.size(); ++i) {
    setup.mutant = static_cast<int>(i + 1);
    setup.stage("mutant");
    MutantResult mutant;
    mutant.what = claim.mutants[i];
    claim.run(setup, mutant.findings);
    mutant.caught = mutant.findings.caught();
    result.mutants.push_back(std::move(mutant));
  }
  const auto end = std::chrono::steady_clock::now();
  result.seconds = std::chrono::duration<double>(end - begin).count();
  return result;
}

}  // namespace bcos::lab::theory
