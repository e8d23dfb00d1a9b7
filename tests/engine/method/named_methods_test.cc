#include <gtest/gtest.h>

#include <set>

#include "bcos/methods.hpp"
#include "tests/engine/expect_error.hpp"

namespace bcos {
namespace {

using testing::error_of;

std::string refusal(std::string_view name) {
  return error_of([&] { method_by_name(name); });
}

struct Row {
  const char* id;
  Direction direction;
  Estimator estimator;
  std::optional<double> beta, beta_v;  // empty where the method reads none
  double eps, eps_root;
  Decay decay;
  double lambda;
  std::optional<Start> start;  // empty where there is no state
};

TEST(NamedMethods, HaveTheNumbersOfTheTable) {
  constexpr auto none = std::nullopt;
  constexpr auto gradient = Direction::gradient;
  constexpr auto momentum = Direction::momentum;
  constexpr auto coupled = Decay::coupled;
  constexpr auto decoupled = Decay::decoupled;
  constexpr auto zero = Start::zero;
  constexpr auto corrected = Start::zero_corrected;
  using enum Estimator;
  const Row table[] = {
      {"sgd", gradient, constant, none, none, 0, 0, coupled, 0, none},
      {"sgd_momentum", momentum, constant, 0.9, none, 0, 0, coupled, 0, corrected},
      {"sign_sgd", gradient, instant, none, none, 0, 0, coupled, 0, none},
      {"sign_momentum", momentum, instant, 0.9, none, 0, 0, coupled, 0, zero},
      {"bcos_g", gradient, ema_d, none, 0.9, 0, 1e-12, coupled, 0, corrected},
      {"bcos_m", momentum, ema_d, 0.9, 0.9, 0, 1e-12, coupled, 0, corrected},
      {"bcos_c", momentum, cond_full, 0.9, none, 0, 1e-12, coupled, 0, zero},
      {"bcos_c_simple", momentum, cond_simple, 0.9, none, 0, 1e-12, coupled, 0, zero},
      {"bcosw_g", gradient, ema_d, none, 0.9, 0, 1e-12, decoupled, 0.1, corrected},
      {"bcosw_m", momentum, ema_d, 0.9, 0.9, 0, 1e-12, decoupled, 0.1, corrected},
      {"bcosw_c", momentum, cond_full, 0.9, none, 0, 1e-12, decoupled, 0.1, zero},
      {"bcosw_c_simple", momentum, cond_simple, 0.9, none, 0, 1e-12, decoupled, 0.1, zero},
      {"adams", momentum, cond_free, 0.9, 0.95, 1e-8, 0, coupled, 0, zero},
      {"adamsw", momentum, cond_free, 0.9, 0.95, 1e-8, 0, decoupled, 0.1, zero},
      {"adam", momentum, ema_g, 0.9, 0.999, 1e-8, 0, coupled, 0, corrected},
      {"adamw", momentum, ema_g, 0.9, 0.999, 1e-8, 0, decoupled, 0.01, corrected},
  };
  ASSERT_EQ(named_methods().size(), std::size(table));
  for (std::size_t i = 0; i < std::size(table); ++i) {
    const Row& row = table[i];
    SCOPED_TRACE(row.id);
    EXPECT_EQ(named_methods()[i].id, row.id);
    const Method& method = *named_methods()[i].method;
    const NumbersUsed used = numbers_used(method);
    EXPECT_EQ(method.direction, row.direction);
    EXPECT_EQ(method.estimator, row.estimator);
    EXPECT_EQ(method.rule, StepRule::sqrt);
    EXPECT_EQ(used.beta ? std::optional(method.beta) : none, row.beta);
    EXPECT_EQ(used.beta_v ? std::optional(method.beta_v) : none, row.beta_v);
    EXPECT_EQ(method.eps, row.eps);
    EXPECT_EQ(method.eps_root, row.eps_root);
    EXPECT_EQ(method.decay, row.decay);
    EXPECT_EQ(method.lambda, row.lambda);
    EXPECT_EQ(method.start, row.start.value_or(method.start));
    EXPECT_EQ(method.block_gain, BlockGain::one);
    EXPECT_EQ(method.blocks, Blocks{});
    EXPECT_EQ(method.c, 1);
    EXPECT_EQ(method.coupled_start, CoupledStart::with_decay);
    EXPECT_FALSE(method.init_on_first_nonzero);
  }
}

TEST(MethodByName, FindsEveryNamedMethodAndItsNameAgain) {
  std::set<std::string_view> ids;
  for (const NamedMethod& named : named_methods()) {
    EXPECT_TRUE(ids.insert(named.id).second);
    EXPECT_EQ(method_by_name(named.id), *named.method);
    EXPECT_EQ(name_of(*named.method), named.id);
  }
}

TEST(PaperForms, StartBcosFromTheFirstGradient) {
  for (const char* id : {"bcos_g", "bcos_m", "bcos_c", "bcos_c_simple", "bcosw_g", "bcosw_m",
                         "bcosw_c", "bcosw_c_simple"}) {
    Method expected = method_by_name(id);
    expected.start = Start::first;
    const std::string name = std::string(id) + "@paper";
    EXPECT_EQ(method_by_name(name), expected);
    EXPECT_EQ(name_of(expected), name);
  }
}

TEST(PaperForms, GiveAdamItsNumbers) {
  for (const char* id : {"adam", "adamw"}) {
    Method expected = method_by_name(id);
    expected.beta_v = 0.99;
    expected.lambda = 0.1;
    const std::string name = std::string(id) + "@paper";
    EXPECT_EQ(method_by_name(name), expected);
    EXPECT_EQ(name_of(expected), name);
  }
}

TEST(PaperForms, AreRefusedWhereThereAreNone) {
  EXPECT_EQ(refusal("sgd@paper"),
            "[method_by_name] expected sgd but received 'sgd@paper': sgd has no form of the "
            "paper's");
  for (const char* name : {"sgd_momentum@paper", "sign_sgd@paper", "sign_momentum@paper",
                           "adams@paper", "adamsw@paper"}) {
    EXPECT_NE(refusal(name).find("has no form of the paper's"), std::string::npos) << name;
  }
}

TEST(MethodByName, RefusesOtherNamesWithTheNearest) {
  EXPECT_EQ(refusal("admw"),
            "[method_by_name] expected the id of a method but received 'admw'; did you mean "
            "'adamw'?");
  EXPECT_NE(refusal("bcos-c").find("did you mean 'bcos_c'?"), std::string::npos);
  EXPECT_EQ(refusal("123").find("did you mean"), std::string::npos);
  EXPECT_NE(refusal("123").find("expected one of sgd, "), std::string::npos);
  EXPECT_NE(refusal("bcosww_c@paper").find("did you mean 'bcosw_c'?"), std::string::npos);
  EXPECT_NE(refusal("sing_sgd").find("did you mean 'sign_sgd'?"), std::string::npos);
  EXPECT_NE(refusal("").find("received ''"), std::string::npos);
  EXPECT_EQ(refusal("bcos_c@Paper"),
            "[method_by_name] expected bcos_c or bcos_c@paper but received 'bcos_c@Paper'");
}

TEST(MethodByName, KnowsNamesAsOthersWriteThem) {
  const auto meant = [](const std::string& name, const std::string& id) {
    EXPECT_EQ(refusal(name), "[method_by_name] expected the id of a method but received '" + name +
                                 "'; did you mean '" + id + "'?");
  };
  meant("AdamW", "adamw");
  meant("ADAMW", "adamw");
  meant("Adam", "adam");
  meant("AdamS", "adams");
  meant("SGD", "sgd");
  meant("BCOS", "bcosw_c");
  meant("BCOSW-c", "bcosw_c");
  meant("bcosw-c", "bcosw_c");
  meant("SignSGD", "sign_sgd");
  meant("sgd-momentum", "sgd_momentum");
}

TEST(MethodByName, NeverSuggestsAnotherOptimizer) {
  for (const char* name :
       {"adamv",   "adamp",    "AdamX",     "Adamax",  "NAdam",  "RAdam", "NAdamW", "Adan",
        "Adagrad", "Adadelta", "Adafactor", "ASGD",    "SGDM",   "LAMB",  "Lion",   "RMSprop",
        "Rprop",   "Muon",     "bcosw",     "bcosw_d", "bcos_x", "x",     ""}) {
    EXPECT_EQ(refusal(name),
              std::string("[method_by_name] expected one of sgd, sgd_momentum, sign_sgd, "
                          "sign_momentum, bcos_g, bcos_m, bcos_c, bcos_c_simple, bcosw_g, bcosw_m, "
                          "bcosw_c, bcosw_c_simple, adams, adamsw, adam, adamw but received '") +
                  name + "'");
  }
}

TEST(NameOf, IsEmptyForAMethodWithoutName) {
  EXPECT_EQ(name_of(Method{}), "");
  EXPECT_EQ(name_of(with(adamw, {.beta = 0.8})), "");
}

}  // namespace
}  // namespace bcos
