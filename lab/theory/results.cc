#include "lab/theory/results.hpp"

#include <algorithm>
#include <chrono>

namespace bcos::lab::theory {

bool Result::pass() const {
  return findings.pass() &&
         std::ranges::all_of(mutants, [](const MutantResult& mutant) { return mutant.caught; });
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
