#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "bcos/method.hpp"
#include "bcos/methods.hpp"
#include "tests/engine/expect_error.hpp"
#include "tests/engine/random_method.hpp"

namespace bcos {
namespace {

using testing::error_of;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string refusal(const Method& method) {
  return error_of([&] { validate(method); });
}

TEST(Validate, AcceptsEveryNamedMethod) {
  for (const NamedMethod& named : named_methods()) EXPECT_NO_THROW(validate(*named.method));
}

TEST(Validate, AcceptsWhatTheGeneratorMakes) {
  EXPECT_TRUE(rc::check([] {
    const Method method = *testing::random_method();
    validate(method);
  }));
}

TEST(Validate, NamesFieldBoundAndValueOfANumberOutOfBounds) {
  EXPECT_EQ(refusal({.beta = 1.5}), "[validate] expected beta in [0, 1) but received 1.5");
  EXPECT_EQ(refusal({.beta = 1}), "[validate] expected beta in [0, 1) but received 1");
  EXPECT_EQ(refusal({.beta = -0.1}), "[validate] expected beta in [0, 1) but received -0.1");
  EXPECT_EQ(refusal({.beta = kNan}), "[validate] expected beta in [0, 1) but received nan");
  EXPECT_EQ(refusal({.beta_v = 1}), "[validate] expected beta_v in [0, 1) but received 1");
  EXPECT_EQ(refusal({.beta_v = kNan}), "[validate] expected beta_v in [0, 1) but received nan");
  EXPECT_EQ(refusal({.eps = -1}), "[validate] expected eps finite and >= 0 but received -1");
  EXPECT_EQ(refusal({.eps_root = kInfinity}),
            "[validate] expected eps_root finite and >= 0 but received inf");
  EXPECT_EQ(refusal({.lambda = kNan}),
            "[validate] expected lambda finite and >= 0 but received nan");
  EXPECT_EQ(refusal({.c = 0}), "[validate] expected c finite and > 0 but received 0");
  EXPECT_EQ(refusal({.c = kInfinity}), "[validate] expected c finite and > 0 but received inf");
}

TEST(Validate, AcceptsTheEdgesOfTheBounds) {
  EXPECT_NO_THROW(validate({.beta = 0, .beta_v = 0, .eps = 0, .eps_root = 0, .lambda = 0}));
  EXPECT_NO_THROW(validate({.beta = std::nextafter(1.0, 0.0)}));
}

TEST(Validate, AsksForAnOpenIntervalOfCondFree) {
  EXPECT_EQ(refusal({.estimator = Estimator::cond_free, .beta_v = 0}),
            "[validate] expected beta_v in (0, 1) for estimator cond_free but received 0");
}

TEST(Validate, AllowsEpsUnderTheSqrtRuleAlone) {
  EXPECT_EQ(refusal({.rule = StepRule::inv, .eps = 1e-8}),
            "[validate] expected eps = 0 for rule inv but received 1e-08; use eps_root");
  EXPECT_EQ(refusal({.estimator = Estimator::ema_d, .rule = StepRule::two_est, .eps = 1e-8}),
            "[validate] expected eps = 0 for rule two_est but received 1e-08; use eps_root");
  EXPECT_NO_THROW(validate({.rule = StepRule::inv}));
}

TEST(Validate, TiesTwoEstToEmaDWithTheSameBeta) {
  EXPECT_EQ(refusal({.rule = StepRule::two_est}),
            "[validate] expected estimator ema_d for rule two_est but received cond_full");
  EXPECT_EQ(refusal({.estimator = Estimator::ema_d, .rule = StepRule::two_est, .beta_v = 0.95}),
            "[validate] expected beta_v = beta = 0.9 for rule two_est but received 0.95; u and v "
            "share one smoothing factor");
  EXPECT_NO_THROW(validate({.estimator = Estimator::ema_d, .rule = StepRule::two_est}));
}

TEST(Validate, AsksForMomentumWhereTheEstimatorReadsIt) {
  EXPECT_EQ(refusal({.direction = Direction::gradient}),
            "[validate] expected direction momentum for estimator cond_full, which reads m, but "
            "received gradient");
  EXPECT_NE(refusal({.direction = Direction::user, .estimator = Estimator::cond_simple})
                .find("cond_simple, which reads m, but received user"),
            std::string::npos);
  EXPECT_NE(refusal({.direction = Direction::gradient, .estimator = Estimator::cond_free})
                .find("cond_free"),
            std::string::npos);
}

TEST(Validate, RefusesEmaGWhoseMomentumOutlivesV) {
  Method method{.estimator = Estimator::ema_g, .beta = 0.5, .beta_v = 0.25, .eps_root = 0};
  EXPECT_EQ(refusal(method),
            "[validate] expected beta_v > beta^2 = 0.25 for estimator ema_g without a stabiliser "
            "but received 0.25; raise beta_v or set eps or eps_root above 0");
  method.beta_v = 0;
  EXPECT_NE(refusal(method).find("but received 0;"), std::string::npos);

  method.eps = 1e-8;
  EXPECT_NO_THROW(validate(method)) << "a stabiliser is enough";
  method.eps = 0;
  method.eps_root = 1e-12;
  EXPECT_NO_THROW(validate(method)) << "either of them";
  method.eps_root = 0;
  method.beta = 0;
  EXPECT_NO_THROW(validate(method)) << "without memory m outlives nothing";
  method.beta = 0.5;
  method.direction = Direction::gradient;
  EXPECT_NO_THROW(validate(method)) << "nor does a gradient";
  method.direction = Direction::momentum;
  method.beta_v = 0.26;
  EXPECT_NO_THROW(validate(method));
}

TEST(Validate, TiesInitOnFirstNonzeroToStartFirst) {
  EXPECT_EQ(refusal({.start = Start::zero, .init_on_first_nonzero = true}),
            "[validate] expected start first for init_on_first_nonzero but received zero");
  EXPECT_NO_THROW(validate({.start = Start::first, .init_on_first_nonzero = true}));
}

TEST(Validate, AcceptsCoupledStartWhereItDoesNotMatter) {
  EXPECT_NO_THROW(validate({.decay = Decay::none, .coupled_start = CoupledStart::raw}));
}

TEST(Validate, ChecksBlocksAsFarAsNoShapeIsNeeded) {
  EXPECT_EQ(refusal({.blocks = {Layout::heads, 0, {}}}),
            "[validate] expected heads >= 1 but received 0");
  EXPECT_EQ(refusal({.blocks = {Layout::row, 3, {}}}),
            "[validate] expected heads = 0 for a layout without heads but received 3");
  EXPECT_EQ(refusal({.blocks = {Layout::row, 0, {{0}}}}),
            "[validate] expected no index lists for layout row but received 1");
  EXPECT_EQ(refusal({.blocks = Blocks::of_lists({{0, 2}, {2}})}),
            "[validate] expected every index in one list but received 2 twice");
  EXPECT_NO_THROW(validate({.blocks = Blocks::of_lists({{0, 2}, {1}})}));
}

TEST(Validate, RefusesNumbersThatAreNoEnumerators) {
  EXPECT_EQ(refusal({.direction = static_cast<Direction>(3)}),
            "[name] expected Direction in [0, 3) but received 3");
  EXPECT_EQ(refusal({.estimator = static_cast<Estimator>(-1)}),
            "[name] expected Estimator in [0, 8) but received -1");
  EXPECT_EQ(refusal({.blocks = Blocks::of(static_cast<Layout>(6))}),
            "[validate] expected a Layout but received the number 6");
}

}  // namespace
}  // namespace bcos
