#include "bcos/text.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "bcos/methods.hpp"
#include "tests/engine/expect_error.hpp"
#include "tests/engine/random_method.hpp"

namespace bcos {
namespace {

using testing::error_of;

std::string json_refusal(std::string_view text) {
  return error_of([&] { method_from_json(text); });
}

std::string toml_refusal(std::string_view text) {
  return error_of([&] { method_from_toml(text); });
}

TEST(MethodText, IsTheSameMethodAgain) {
  EXPECT_TRUE(rc::check([] {
    const Method method = *testing::random_method();
    RC_ASSERT(method_from_json(to_json(method)) == method);
    RC_ASSERT(method_from_toml(to_toml(method)) == method);
  }));
}

TEST(MethodText, KeepsEveryNamedMethod) {
  for (const NamedMethod& named : named_methods()) {
    EXPECT_EQ(method_from_json(to_json(*named.method)), *named.method) << named.id;
    EXPECT_EQ(method_from_toml(to_toml(*named.method)), *named.method) << named.id;
  }
}

TEST(MethodText, KeepsHeadsAndLists) {
  for (const Blocks& blocks :
       {Blocks::of_heads(12), Blocks::of_lists({{0, 2}, {1}}), Blocks::of_lists({})}) {
    const Method method = with(bcosw_c, {.blocks = blocks});
    EXPECT_EQ(method_from_json(to_json(method)), method);
    EXPECT_EQ(method_from_toml(to_toml(method)), method);
  }
}

TEST(MethodText, KeepsExtremeNumbers) {
  for (const double value : {5e-324, 1e308, 1.7976931348623157e308, 1e-300, 0.1 + 0.2, 3.0, 1e22}) {
    const Method method = with(bcosw_c, {.eps_root = value, .lambda = value});
    EXPECT_EQ(method_from_json(to_json(method)), method) << value;
    EXPECT_EQ(method_from_toml(to_toml(method)), method) << value;
  }
}

TEST(MethodText, HasItsKeysInOneOrder) {
  EXPECT_EQ(to_json(bcosw_c),
            R"({"direction":"momentum","estimator":"cond_full","rule":"sqrt","decay":"decoupled",)"
            R"("start":"zero","coupled_start":"with_decay","blocks":"coordinate",)"
            R"("block_gain":"one","beta":0.9,"beta_v":0.9,"eps":0.0,"eps_root":1e-12,)"
            R"("lambda":0.1,"c":1.0})");
  EXPECT_EQ(to_toml(with(bcosw_c, {.start = Start::first,
                                   .blocks = Blocks::of_lists({{0, 2}, {1}}),
                                   .init_on_first_nonzero = true})),
            "direction = \"momentum\"\nestimator = \"cond_full\"\nrule = \"sqrt\"\n"
            "decay = \"decoupled\"\nstart = \"first\"\ncoupled_start = \"with_decay\"\n"
            "blocks = [[0,2],[1]]\nblock_gain = \"one\"\nbeta = 0.9\nbeta_v = 0.9\neps = 0.0\n"
            "eps_root = 1e-12\nlambda = 0.1\nc = 1.0\ninit_on_first_nonzero = true\n");
}

TEST(MethodText, IsNotWrittenForAnInvalidMethod) {
  EXPECT_EQ(error_of([] { to_json(Method{.beta = 2}); }),
            "[validate] expected beta in [0, 1) but received 2");
}

TEST(MethodText, ReadsEveryConfigOfTheGoldenTraces) {
  const auto golden = nlohmann::json::parse(std::ifstream(BCOS_GOLDEN_FILE));
  ASSERT_EQ(golden["cases"].size(), 250u);
  for (const auto& item : golden["cases"]) {
    auto config = item["config"];
    config.erase("grads");
    config.erase("max_norm");
    config["blocks"] = golden["blocks"][config["blocks"].get<std::string>()];
    Method method;
    ASSERT_NO_THROW(method = method_from_json(config.dump())) << item["name"];
    EXPECT_EQ(nlohmann::json::parse(to_json(method)), config) << item["name"];
  }
}

TEST(FullForm, TakesTheDefaultsForMissingKeys) {
  EXPECT_EQ(method_from_json("{}"), Method{});
  EXPECT_EQ(method_from_toml(""), Method{});
  EXPECT_EQ(method_from_toml("estimator = 'ema_d'"), (Method{.estimator = Estimator::ema_d}));
}

TEST(FullForm, KeepsNumbersTheMethodDoesNotReadWhereAllAreGiven) {
  const Method method{.decay = Decay::none, .beta_v = 0.5, .lambda = 0.3, .c = 7};
  EXPECT_EQ(method_from_json(to_json(method)), method);
  EXPECT_EQ(method_from_toml(to_toml(method)), method);
}

TEST(FullForm, RefusesANumberTheMethodDoesNotReadWhereSomeAreGiven) {
  EXPECT_EQ(json_refusal(R"({"estimator": "cond_full", "beta_v": 0.5})"),
            "[method_from_json] expected no beta_v for this method, whose estimator cond_full does "
            "not read it, but received 0.5");
  EXPECT_EQ(toml_refusal("direction = 'gradient'\nestimator = 'instant'\nbeta = 0.8"),
            "[method_from_toml] expected no beta for this method, whose direction gradient does "
            "not read it, but received 0.8");
  EXPECT_NE(json_refusal(R"({"lambda": 0.1})").find("expected no lambda"), std::string::npos);
  EXPECT_NE(json_refusal(R"({"c": 2})").find("expected no c"), std::string::npos);
  EXPECT_NE(json_refusal(R"({"estimator": "ema_d", "rule": "inv", "eps": 1e-8})").find("eps_root"),
            std::string::npos);
}

TEST(FullForm, GivesTwoEstimatesOneSmoothingFactor) {
  EXPECT_EQ(method_from_json(R"({"estimator": "ema_d", "rule": "two_est", "beta": 0.5})").beta_v,
            0.5);
}

TEST(FullForm, SwitchesOffTheStabiliserThatIsNotGiven) {
  const Method outside = method_from_json(R"({"eps": 1e-6})");
  EXPECT_EQ(outside.eps, 1e-6);
  EXPECT_EQ(outside.eps_root, 0);
  EXPECT_EQ(method_from_json(R"({"eps_root": 1e-6})").eps, 0);
}

TEST(NamedForm, StartsFromTheNameAndAppliesTheRest) {
  EXPECT_EQ(method_from_json(R"({"method": "bcosw_c@paper"})"), method_by_name("bcosw_c@paper"));
  EXPECT_EQ(method_from_toml("method = 'adamw'\nbeta_v = 0.95\nlambda = 1\nblocks = 'row'"),
            with(adamw, {.blocks = Blocks::of(Layout::row), .beta_v = 0.95, .lambda = 1}));
  EXPECT_EQ(method_from_json(R"({"method": "bcosw_c", "eps": 1e-6})"),
            with(bcosw_c, {.eps = 1e-6}));
  EXPECT_EQ(method_from_json(R"({"method": "bcos_m", "rule": "two_est", "beta": 0.5})").beta_v,
            0.5);
}

TEST(NamedForm, RefusesANumberTheMethodDoesNotReadAndNamesBoth) {
  EXPECT_EQ(json_refusal(R"({"method": "bcosw_c", "blocks": "row", "beta_v": 0.5})"),
            "[method_from_json] expected no beta_v for bcosw_c, whose estimator cond_full does not "
            "read it, but received 0.5");
  EXPECT_EQ(method_from_json(
                R"({"method": "bcosw_c", "estimator": "cond_simple", "direction": "momentum"})")
                .estimator,
            Estimator::cond_simple);
  EXPECT_NE(json_refusal(R"({"method": "AdamW"})").find("did you mean 'adamw'?"),
            std::string::npos);
  EXPECT_EQ(json_refusal(R"({"method": 3})"),
            "[method_from_json] expected method as a string but received 3");
  EXPECT_NE(json_refusal(R"({"method": ""})"), "");
}

TEST(Reading, RefusesUnknownKeysWithTheNearest) {
  EXPECT_EQ(json_refusal(R"({"beta_vv": 0.9})"),
            "[method_from_json] expected a known key but received \"beta_vv\"; did you mean "
            "'beta_v'?");
  EXPECT_EQ(toml_refusal("lamda = 0.9"),
            "[method_from_toml] expected a known key but received \"lamda\"; did you mean "
            "'lambda'?");
}

TEST(Reading, LeadsFromTorchsWordsToOurs) {
  const auto advice = [](const std::string& key) {
    const std::string error = json_refusal("{\"method\": \"adamw\", \"" + key + "\": 0.9}");
    const std::string begin =
        "[method_from_json] expected a known key but received \"" + key + "\"";
    EXPECT_TRUE(error.starts_with(begin)) << error;
    return error.substr(std::min(begin.size(), error.size()));
  };
  const char* not_here = "; alpha is no part of a method, it is given at each step";
  EXPECT_EQ(advice("lr"), not_here);
  EXPECT_EQ(advice("alpha"), not_here);
  EXPECT_EQ(advice("learning_rate"), not_here);
  EXPECT_EQ(advice("weight_decay"), "; did you mean 'lambda'?");
  EXPECT_EQ(advice("Weight-Decay"), "; did you mean 'lambda'?");
  EXPECT_EQ(advice("betas"), "; did you mean 'beta' and 'beta_v'?");
  EXPECT_EQ(advice("beta1"), "; did you mean 'beta'?");
  EXPECT_EQ(advice("beta2"), "; did you mean 'beta_v'?");
  EXPECT_EQ(advice("momentum"), "; did you mean 'beta'?");
}

TEST(Reading, SuggestsNothingWhereNothingIsNear) {
  for (const char* key : {"nesterov", "amsgrad", "x", "weight_lambda", "wd"}) {
    EXPECT_EQ(json_refusal("{\"" + std::string(key) + "\": 0.9}"),
              "[method_from_json] expected a known key but received \"" + std::string(key) + "\"");
  }
}

TEST(Reading, RefusesUnknownNamesWithTheNearest) {
  EXPECT_EQ(json_refusal(R"({"start": "zeros"})"),
            "[method_from_json] expected start as one of first, zero, zero_corrected but received "
            "\"zeros\"; did you mean 'zero'?");
  EXPECT_NE(json_refusal(R"({"blocks": "rows"})").find("did you mean 'row'?"), std::string::npos);
}

TEST(Reading, RefusesWrongTypes) {
  EXPECT_EQ(json_refusal(R"({"beta": "0.9"})"),
            "[method_from_json] expected beta as a number but received \"0.9\"");
  EXPECT_EQ(json_refusal(R"({"beta": null})"),
            "[method_from_json] expected beta as a number but received null");
  EXPECT_EQ(json_refusal(R"({"rule": 1})"),
            "[method_from_json] expected rule as one of sqrt, two_est, inv but received 1");
  EXPECT_EQ(json_refusal(R"({"init_on_first_nonzero": 1})"),
            "[method_from_json] expected init_on_first_nonzero as true or false but received 1");
  EXPECT_EQ(json_refusal(R"({"blocks": [[0, -1]]})"),
            "[method_from_json] expected blocks as a whole number >= 0 but received -1");
  EXPECT_EQ(json_refusal(R"({"blocks": [0]})"),
            "[method_from_json] expected blocks as a list of whole numbers but received 0");
  EXPECT_EQ(toml_refusal("blocks = 3"),
            "[method_from_toml] expected blocks as a name or a list of index lists but received 3");
  EXPECT_EQ(toml_refusal("beta = {x = 1}"),
            "[method_from_toml] expected beta as a number but received {\"x\":1}");
  EXPECT_EQ(toml_refusal("beta = 2020-01-01"),
            "[method_from_toml] expected no dates and times but received one in line 1");
}

TEST(Reading, RefusesInvalidMethods) {
  EXPECT_EQ(json_refusal(R"({"beta": 1})"), "[validate] expected beta in [0, 1) but received 1");
  EXPECT_EQ(toml_refusal("beta = nan"), "[validate] expected beta in [0, 1) but received nan");
  EXPECT_EQ(json_refusal(R"({"blocks": [[0, 2]]})"),
            "[validate] expected indices in [0, 2) but received 2 in list 0");
}

TEST(Reading, RefusesKeysGivenTwice) {
  EXPECT_EQ(json_refusal(R"({"beta": 0.9, "eps": 0, "beta": 0.8})"),
            "[method_from_json] expected every key once but received \"beta\" twice");
  EXPECT_NE(toml_refusal("beta = 0.9\nbeta = 0.8").find("expected TOML"), std::string::npos);
}

TEST(Reading, RefusesTextThatIsNoObject) {
  for (const char* text : {"", "{", "nonsense", "{\"beta\": 1e999}", "\xff"}) {
    EXPECT_NE(json_refusal(text).find("expected JSON but received something else"),
              std::string::npos);
  }
  EXPECT_EQ(json_refusal("[1, 2]"), "[method_from_json] expected an object but received [1,2]");
  EXPECT_NE(json_refusal(std::string(100000, '[')), "");
  EXPECT_NE(toml_refusal("x = " + std::string(100000, '[')), "");
  EXPECT_NE(toml_refusal("beta 0.9").find("line 1"), std::string::npos);
}

TEST(Reading, ShowsLongValuesShortened) {
  EXPECT_LT(json_refusal("{\"beta\": \"" + std::string(100000, 'x') + "\"}").size(), 200u);
}

TEST(AMethodsText, ThatIsTooDeepIsRefused) {
  const std::string deep =
      R"({"blocks":)" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
  EXPECT_NE(error_of([&] { method_from_json(deep); }).find("levels"), std::string::npos);
}

}  // namespace
}  // namespace bcos
