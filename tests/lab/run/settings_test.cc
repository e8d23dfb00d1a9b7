#include "lab/run/settings.hpp"

#include <gtest/gtest.h>

#include "bcos/methods.hpp"
#include "lab/run/presets.hpp"
#include "lab/run/recipe.hpp"
#include "tests/engine/expect_error.hpp"

namespace bcos::lab::run {
namespace {

using bcos::testing::error_of;

void set(Settings& settings, std::string_view key, const std::string& text) {
  set_field(settings, field_of(key), text);
}

TEST(Settings, OfEveryPresetSurviveTheirFile) {
  for (const Preset& preset : presets()) {
    Settings settings = preset.settings;
    settings.name = "a \"quoted\" \\ name";
    settings.data = "a\nfile\twith\x7f controls";
    settings.milestones = {3, 50};
    settings.beta_v = 0.1 + 0.2;
    if (settings.epochs > 0) settings.steps = Settings{}.steps;
    EXPECT_EQ(settings_from_toml({}, to_toml(settings), "x"), settings) << preset.name;
  }
}

TEST(Settings, AreSetByTheirNamesWithEitherDash) {
  Settings settings;
  set(settings, "warmup-part", "0.25");
  set(settings, "total_batch", "4096");
  set(settings, "bias", "no");
  set(settings, "hidden", "8,4");
  set(settings, "lr", "1e-3");
  EXPECT_EQ(settings.warmup_part, 0.25);
  EXPECT_EQ(settings.total_batch, 4096U);
  EXPECT_FALSE(settings.bias);
  EXPECT_EQ(settings.hidden, (std::vector<std::uint64_t>{8, 4}));
  EXPECT_EQ(settings.lr, 1e-3);
}

TEST(Settings, ThatAreUnknownGetTheNearestName) {
  EXPECT_EQ(error_of([] { field_of("warmpu"); }),
            "[train] expected a known setting but received 'warmpu'; did you mean 'warmup'?");
  EXPECT_NE(error_of([] { settings_from_toml({}, "wieght_decay = 1", "x.toml"); }).find("did you"),
            std::string::npos);
}

TEST(Settings, OfTheWrongTypeAreRefused) {
  Settings settings;
  EXPECT_EQ(error_of([&] { set(settings, "steps", "1.5"); }),
            "[train] expected steps as a whole number but received '1.5'");
  EXPECT_EQ(error_of([&] { set(settings, "lr", "nan"); }),
            "[train] expected lr as a number but received 'nan'");
  EXPECT_EQ(error_of([&] { set(settings, "model", "gtp"); }),
            "[train] expected model as gpt|resnet|vit|mlp but received 'gtp'; did you mean 'gpt'?");
  EXPECT_EQ(error_of([] { settings_from_toml({}, "steps = \"many\"", "x.toml"); }),
            "[train] expected steps as a whole number but received 'many'");
  EXPECT_EQ(error_of([] { settings_from_toml({}, "bias = 1", "x.toml"); }),
            "[train] expected bias as true or false but received a number");
  EXPECT_EQ(error_of([&] { set(settings, "bias", "maybe"); }),
            "[train] expected bias as yes or no but received 'maybe'");
  EXPECT_NE(error_of([] { settings_from_toml({}, "steps = ", "x.toml"); }).find("'x.toml'"),
            std::string::npos);
}

TEST(Settings, OutOfBoundsNameFieldBoundAndValue) {
  const auto refused = [](std::string_view key, const std::string& text) {
    Settings settings;
    set(settings, key, text);
    return error_of([&] { validate(settings); });
  };
  EXPECT_EQ(refused("steps", "0"), "[train] expected steps >= 1 but received 0");
  EXPECT_EQ(refused("dropout", "1"), "[train] expected dropout in [0, 1) but received 1");
  EXPECT_NE(refused("mixup", "2").find("mixup in [0, 1] but received 2"), std::string::npos);
  EXPECT_NE(refused("smallest_crop", "0").find("smallest_crop in (0, 1]"), std::string::npos);
  EXPECT_NE(refused("total_batch", "1000").find("batch x context = 2048"), std::string::npos);
  EXPECT_NE(refused("epochs", "2").find("steps for model gpt"), std::string::npos);
  EXPECT_NE(refused("warmup", "801").find("warmup <= steps = 800 but received 801: give a "),
            std::string::npos);
  EXPECT_EQ(refused("threads", "100000"),
            "[train] expected threads in 0..1024 but received 100000");
  EXPECT_NE(refused("seed", "18446744073709551615").find("9223372036854775807"), std::string::npos);
  EXPECT_NE(refused("layers", "4294967298").find("layers in 1..16777216"), std::string::npos);
  EXPECT_NE(refused("keep", "4294967297").find("keep in 1.."), std::string::npos);
  EXPECT_NE(refused("hidden", "8,0").find("hidden in 1.."), std::string::npos);
  EXPECT_NE(refused("width", "65").find("multiple of heads = 2"), std::string::npos);
  EXPECT_NE(refused("heads", "0").find("heads in 1.."), std::string::npos);
  EXPECT_NE(refused("format", "idx").find("a format of texts for model gpt"), std::string::npos);
  EXPECT_NE(refused("name", "../../x").find("without '/'"), std::string::npos);
  EXPECT_NE(refused("name", "a\nb").find("received 'a\\x0ab'"), std::string::npos);
  EXPECT_NE(refused("data", "\xff").find("data in UTF-8"), std::string::npos);
  EXPECT_NE(refused("adamw_lr", "-1").find("adamw_lr >= 0"), std::string::npos);
  EXPECT_NE(refused("method", "AdamW").find("did you mean 'adamw'?"), std::string::npos);
  EXPECT_NE(refused("beta", "1").find("beta"), std::string::npos);
  EXPECT_NE(refused("beta_v", "0.9").find("beta_v"), std::string::npos);
  EXPECT_NE(refused("method", "sgd").find("expected lr"), std::string::npos);
}

TEST(Settings, OfTwoThatExcludeEachOtherTheLastCounts) {
  Settings settings = preset_of("mlp-mnist").settings;
  ASSERT_GT(settings.epochs, 0);
  set(settings, "steps", "7");
  EXPECT_EQ(settings.epochs, 0);
  set(settings, "epochs", "2");
  EXPECT_EQ(settings.epochs, 2);
  set(settings, "lr", "1");
  set(settings, "adamw_lr", "0.5");
  EXPECT_EQ(lr_of(settings), 0.125);
  set(settings, "warmup_part", "0.5");
  set(settings, "steps", "10");
  EXPECT_EQ(schedule_of(settings, 10).warmup, 5U);
  set(settings, "warmup", "3");
  EXPECT_EQ(schedule_of(settings, 10).warmup, 3U);
  set(settings, "decay_rate", "0.25");
  set(settings, "lr", "0.5");
  EXPECT_EQ(method_of(settings).lambda, 0.5);
  set(settings, "weight_decay", "0.75");
  EXPECT_EQ(method_of(settings).lambda, 0.75);
}

TEST(Settings, SaidTwiceInOneFileAreRefused) {
  for (const char* text : {"lr = 1\nadamw_lr = 1", "steps = 5\nepochs = 1",
                           "warmup = 1\nwarmup_part = 0.5", "weight_decay = 0\ndecay_rate = 0.1"}) {
    EXPECT_NE(
        error_of([&] { settings_from_toml({}, text, "x.toml"); }).find("expected only one of"),
        std::string::npos)
        << text;
  }
}

TEST(Settings, MayHoldAMethodAsJson) {
  Settings settings;
  settings.method = R"({"method":"bcosw_c","blocks":"tensor","beta":0.8})";
  EXPECT_EQ(method_of(settings).blocks.layout, Layout::tensor);
  EXPECT_EQ(lr_of(settings), settings.adamw_lr / 4);
  EXPECT_EQ(settings_from_toml({}, to_toml(settings), "x"), settings);
  settings.method = R"({"method":"bcosw_d"})";
  EXPECT_NE(error_of([&] { validate(settings); }).find("bcosw_d"), std::string::npos);
}

TEST(TheLearningRate, IsAQuarterOfAdamWsUnlessGiven) {
  Settings settings;
  settings.adamw_lr = 0.016;
  EXPECT_EQ(lr_of(settings), 0.004);
  settings.method = "adamw";
  EXPECT_EQ(lr_of(settings), 0.016);
  settings.lr = 0.5;
  EXPECT_EQ(lr_of(settings), 0.5);
}

TEST(TheMethod, HasTheNumbersThatWereGiven) {
  Settings settings;
  EXPECT_EQ(method_of(settings), bcosw_c);
  settings.weight_decay = 0.2;
  settings.beta = 0.8;
  settings.start = "first";
  const Method method = method_of(settings);
  EXPECT_EQ(method.lambda, 0.2);
  EXPECT_EQ(method.beta, 0.8);
  EXPECT_EQ(method.start, Start::first);
}

TEST(TheSchedule, FollowsTheSettings) {
  Settings settings;
  settings.lr = 1.0;
  settings.lr_floor = 0.1;
  settings.warmup_part = 0.2;
  const Schedule schedule = schedule_of(settings, 100);
  EXPECT_EQ(schedule.warmup, 20U);
  EXPECT_EQ(alpha_at(schedule, 0), 0.05);
  EXPECT_EQ(alpha_at(schedule, 20), 1.0);
  EXPECT_EQ(alpha_at(schedule, 100), 0.1);
  settings.schedule = "step";
  settings.milestones = {50};
  EXPECT_EQ(alpha_at(schedule_of(settings, 100), 50), 0.1);
}

TEST(ARecipe, IsOneForTwoNamesOfOneThing) {
  Settings named;
  Settings written = named;
  written.beta = 0.9;
  written.lr = lr_of(named);
  written.weight_decay = 0.1;
  EXPECT_EQ(recipe_of(named), recipe_of(written));
  written.method = R"({"method":"bcosw_c"})";
  written.out = "elsewhere";
  written.eval_every = 7;
  written.seed = 3;
  EXPECT_EQ(recipe_of(named).group_key(), recipe_of(written).group_key());
  EXPECT_EQ(method_name(written), "bcosw_c");
  for (const auto& [key, value] : {std::pair("beta", "0.8"), std::pair("steps", "801"),
                                   std::pair("dropout", "0.1"), std::pair("decay_rate", "1e-5")}) {
    Settings other = named;
    set(other, key, value);
    EXPECT_NE(recipe_of(named).group_key(), recipe_of(other).group_key()) << key;
  }
  Settings threads = named;
  threads.threads = 2;
  EXPECT_EQ(recipe_of(named).group_key(), recipe_of(threads).group_key());
  EXPECT_NE(recipe_of(named), recipe_of(threads));
}

/// Folders are called by these: a change of a default or of the form would run all cells again.
TEST(ARecipe, KeepsItsKeyFromVersionToVersion) {
  EXPECT_EQ(recipe_of(Settings{}).group_key(), "73d68914");
  EXPECT_EQ(recipe_of(settings_of(preset_of("demo"), "adamw")).group_key(), "fa0cdf0d");
}

TEST(APreset, GivesAdamWItsUsualBest) {
  for (const Preset& preset : presets()) {
    const Settings settings = settings_of(preset, "adamw");
    const Method method = method_of(settings);
    EXPECT_EQ(settings.method, "adamw") << preset.name;
    EXPECT_EQ(method.beta_v, 0.95) << preset.name;
    EXPECT_EQ(method.lambda, 0.1) << preset.name;
    EXPECT_EQ(lr_of(settings_of(preset, "bcosw_c")), lr_of(settings) / 4) << preset.name;
  }
}

TEST(APreset, ThatIsUnknownGetsTheNearestName) {
  EXPECT_NE(error_of([] { preset_of("dmo"); }).find("did you mean 'demo'"), std::string::npos);
}

}  // namespace
}  // namespace bcos::lab::run
