#include "bcos/method.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "bcos/methods.hpp"
#include "tests/engine/expect_error.hpp"

namespace bcos {
namespace {

using testing::error_of;

std::string refusal(const Method& base, const MethodOptions& options) {
  return error_of([&] { with(base, options); });
}

TEST(StateKinds, AreMForMomentumVForAveragesUForTwoEst) {
  EXPECT_FALSE(state_kinds(sgd).m || state_kinds(sgd).v || state_kinds(sgd).u);
  EXPECT_TRUE(state_kinds(bcos_g).v);
  EXPECT_FALSE(state_kinds(bcos_g).m);
  EXPECT_TRUE(state_kinds(bcos_m).m && state_kinds(bcos_m).v);
  EXPECT_TRUE(state_kinds(bcosw_c).m);
  EXPECT_FALSE(state_kinds(bcosw_c).v);
  EXPECT_TRUE(state_kinds(adamw).m && state_kinds(adamw).v);
  EXPECT_FALSE(state_kinds(adams).v);
  EXPECT_TRUE(state_kinds({.estimator = Estimator::ema_d, .rule = StepRule::two_est}).u);
}

TEST(NumbersUsed, FollowFromTheAxes) {
  const NumbersUsed by_sgd = numbers_used(sgd);
  EXPECT_FALSE(by_sgd.beta || by_sgd.beta_v);
  EXPECT_TRUE(by_sgd.eps && by_sgd.eps_root && by_sgd.lambda && by_sgd.c);
  const NumbersUsed by_bcosw_c = numbers_used(bcosw_c);
  EXPECT_TRUE(by_bcosw_c.beta && by_bcosw_c.eps && by_bcosw_c.lambda);
  EXPECT_FALSE(by_bcosw_c.beta_v || by_bcosw_c.c);
  EXPECT_TRUE(numbers_used(bcos_g).beta_v && numbers_used(adam).beta_v);
  EXPECT_TRUE(numbers_used(adams).beta_v);
  EXPECT_FALSE(numbers_used({.decay = Decay::none}).lambda);
  EXPECT_FALSE(numbers_used({.rule = StepRule::inv}).eps);
  EXPECT_TRUE(numbers_used({.direction = Direction::gradient,
                            .estimator = Estimator::ema_d,
                            .rule = StepRule::two_est})
                  .beta);
}

TEST(AmplificationBound, HasTheValuesOfTheTable) {
  EXPECT_EQ(amplification_bound(sign_sgd), 1.0);
  EXPECT_EQ(amplification_bound(sgd), std::nullopt);
  EXPECT_EQ(amplification_bound({.estimator = Estimator::oracle}), std::nullopt);
  EXPECT_NEAR(*amplification_bound(bcos_c), 1.2964, 5e-5);
  EXPECT_NEAR(*amplification_bound(bcos_c_simple), 1.3484, 5e-5);
  EXPECT_NEAR(*amplification_bound(adams), 1.0260, 5e-5);
  EXPECT_NEAR(*amplification_bound(bcos_g), 3.1623, 5e-5);
  EXPECT_NEAR(*amplification_bound(bcos_m), 3.1623, 5e-5);
  EXPECT_NEAR(*amplification_bound(adam), 7.2703, 5e-5);
  EXPECT_NEAR(*amplification_bound(method_by_name("adam@paper")), 2.3452, 5e-5);
  EXPECT_NEAR(*amplification_bound(with(adam, {.beta_v = 0.9})), 1.0, 1e-12);
  EXPECT_NEAR(*amplification_bound(with(adams, {.beta_v = 0.9})), 1.0, 1e-12);
}

TEST(AmplificationBound, OfAdamNeedsBetaVAboveBetaSquared) {
  EXPECT_EQ(amplification_bound(with(adam, {.beta_v = 0.5})), std::nullopt);
  EXPECT_EQ(amplification_bound(with(adam, {.beta = 0, .beta_v = 0})), 1.0);
}

TEST(AmplificationBound, OfAdamWithoutMomentumIsThatOfRmsprop) {
  const Method method{.direction = Direction::gradient, .estimator = Estimator::ema_g};
  EXPECT_EQ(amplification_bound(method), amplification_bound(bcos_g));
}

TEST(With, ChangesWhatIsGivenAndNothingElse) {
  Method expected = bcosw_c;
  EXPECT_EQ(with(bcosw_c, {}), expected);
  expected.beta = 0.95;
  expected.lambda = 0.2;
  expected.start = Start::first;
  expected.blocks = Blocks::of(Layout::row);
  expected.block_gain = BlockGain::sqrt;
  expected.init_on_first_nonzero = true;
  EXPECT_EQ(with(bcosw_c, {.start = Start::first,
                           .blocks = Blocks::of(Layout::row),
                           .block_gain = BlockGain::sqrt,
                           .beta = 0.95,
                           .lambda = 0.2,
                           .init_on_first_nonzero = true}),
            expected);
  EXPECT_EQ(with(bcosw_c, {.decay = Decay::coupled, .coupled_start = CoupledStart::raw}).decay,
            Decay::coupled);
  EXPECT_EQ(with(sgd, {.c = 4}).c, 4);
}

TEST(With, EpsAloneSetsEpsRootToZeroAndTheReverse) {
  const Method outside = with(bcosw_c, {.eps = 1e-6});
  EXPECT_EQ(outside.eps, 1e-6);
  EXPECT_EQ(outside.eps_root, 0);
  const Method inside = with(adamw, {.eps_root = 1e-12});
  EXPECT_EQ(inside.eps, 0);
  EXPECT_EQ(inside.eps_root, 1e-12);
  const Method both = with(adamw, {.eps = 1e-6, .eps_root = 1e-12});
  EXPECT_EQ(both.eps, 1e-6);
  EXPECT_EQ(both.eps_root, 1e-12);
  EXPECT_EQ(with(adamw, {.beta = 0.8}).eps, 1e-8) << "neither given: both stay";
}

TEST(With, RefusesANumberTheMethodDoesNotReadAndNamesBoth) {
  EXPECT_EQ(
      refusal(bcosw_c, {.beta_v = 0.95}),
      "[with] expected no beta_v for bcosw_c, whose estimator cond_full does not read it, but "
      "received 0.95");
  EXPECT_EQ(refusal(sgd, {.beta = 0.9}),
            "[with] expected no beta for sgd, whose direction gradient does not read it, but "
            "received 0.9");
  EXPECT_EQ(
      refusal(method_by_name("bcos_c@paper"), {.c = 2}),
      "[with] expected no c for bcos_c@paper, whose estimator cond_full does not read it, but "
      "received 2");
  EXPECT_EQ(refusal({.rule = StepRule::inv}, {.eps = 1e-8}),
            "[with] expected no eps for this method, whose rule inv does not read it, but received "
            "1e-08; use eps_root");
}

TEST(With, AsksForADecayWhereLambdaHasNoPlace) {
  EXPECT_EQ(
      refusal(bcosw_c, {.decay = Decay::none, .lambda = 0.1}),
      "[with] expected no lambda for bcosw_c, whose decay none does not read it, but received "
      "0.1; set decay to coupled or decoupled");
  EXPECT_EQ(with({}, {.decay = Decay::decoupled, .lambda = 0.1}).lambda, 0.1);
}

TEST(With, BetaAloneUnderTwoEstSetsBetaV) {
  const Method two_est{.estimator = Estimator::ema_d, .rule = StepRule::two_est};
  EXPECT_EQ(with(two_est, {.beta = 0.5}).beta_v, 0.5);
  EXPECT_EQ(refusal(two_est, {.beta_v = 0.5}).substr(0, 30), "[validate] expected beta_v = b");
}

TEST(With, ValidatesTheResult) {
  EXPECT_EQ(refusal(adamw, {.beta = 1.5}), "[validate] expected beta in [0, 1) but received 1.5");
}

}  // namespace
}  // namespace bcos
