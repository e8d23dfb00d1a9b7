#include <gtest/gtest.h>

#include <array>

#include "bcos/executor.hpp"
#include "lab/theory/results.hpp"

namespace bcos::lab::theory {
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
  // All claims together: at least 95 % of the checks. None is far below that by itself.
  const Coverage coverage = coverage_of(results);
  EXPECT_GE(10 * coverage.broken, 8 * coverage.checks) << mutants_text(results);
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

/// They are quoted to three decimals.
TEST(Amplification, IsHeldToTheLastDigitOfWhatIsQuoted) {
  const Result result = run_claim(claim_by_id("T20"), {.thin = 16});
  ASSERT_FALSE(result.findings.checks().empty());
  for (const Check& check : result.findings.checks()) EXPECT_LE(check.slack, 5e-4) << check.what;
}

std::string refusal(const std::string& word) {
  constexpr std::array<std::string_view, 1> kOthers = {"estimators"};
  try {
    claim_by_id(word, kOthers);
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

TEST(Claims, AreTwentyFourAndFoundInAnyCase) {
  EXPECT_EQ(claims().size(), 24U);
  EXPECT_EQ(claim_by_id("t20").id, "T20");
}

TEST(Claims, UnknownOnesAreRefusedWithTheNearestWord) {
  EXPECT_EQ(refusal("T25"), "[theory] expected a claim in T1..T24 but received 'T25'");
  EXPECT_EQ(refusal("estimator"),
            "[theory] expected a claim in T1..T24 but received 'estimator'; did you mean "
            "'estimators'?");
}

INSTANTIATE_TEST_SUITE_P(Theory, EveryClaim, ::testing::ValuesIn(ids()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace bcos::lab::theory
