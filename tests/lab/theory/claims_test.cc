#include <gtest/gtest.h>

#include "bcos/executor.hpp"
#include "lab/theory/results.hpp"

namespace bcos::theory {
namespace {

std::vector<std::string> ids() {
  std::vector<std::string> ids;
  for (const Claim& claim : claims()) ids.push_back(claim.id);
  return ids;
}

class EveryClaim : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryClaim, HoldsInItsQuickFormAndCatchesItsMutants) {
  const Claim& claim = claim_by_id(GetParam());
  ASSERT_FALSE(claim.mutants.empty());
  const std::vector<Result> results = {run_claim(claim, {.mutants = true})};
  EXPECT_TRUE(results[0].findings.pass()) << checks_text(results[0]);
  for (const MutantResult& mutant : results[0].mutants) {
    EXPECT_TRUE(mutant.caught) << mutants_text(results);
  }
}

TEST_P(EveryClaim, GivesTheSameNumbersOnAnyNumberOfThreads) {
  const int before = default_threads();
  std::vector<std::string> texts;
  for (const int threads : {1, 2, 7}) {
    set_default_threads(threads);
    std::vector<Result> results = {run_claim(claim_by_id(GetParam()), {.thin = 16})};
    results[0].seconds = 0;
    texts.push_back(to_json(results, {}).dump(1));
  }
  set_default_threads(before);
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
}

INSTANTIATE_TEST_SUITE_P(Theory, EveryClaim, ::testing::ValuesIn(ids()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace bcos::theory
