#include "bcos/schedule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "bcos/text.hpp"
#include "tests/engine/expect_error.hpp"
#include "tests/engine/random_method.hpp"

namespace bcos {
namespace {

using testing::error_of;

std::string refusal(const Schedule& schedule) {
  return error_of([&] { validate(schedule); });
}

std::vector<double> values(const Schedule& schedule, std::uint64_t count) {
  validate(schedule);
  std::vector<double> alphas;
  for (std::uint64_t t = 0; t < count; ++t) alphas.push_back(alpha_at(schedule, t));
  return alphas;
}

TEST(Schedules, AreThoseOfTheGoldenFile) {
  const auto golden = nlohmann::json::parse(std::ifstream(BCOS_GOLDEN_FILE))["schedules"];
  int compared = 0;
  for (const auto& [name, expected] : golden.items()) {
    if (name == "params" || name == "t") continue;
    SCOPED_TRACE(name);
    auto keys = golden["params"];
    const bool warm = name.starts_with("warmup_");
    keys["curve"] = warm ? name.substr(7) : name;
    if (!warm) keys["warmup"] = 0;
    const Schedule schedule = schedule_from_json(keys.dump());
    ASSERT_EQ(expected.size(), 15u);
    for (std::uint64_t t = 0; t < expected.size(); ++t) {
      const double value = expected[t];
      EXPECT_NEAR(alpha_at(schedule, t), value, 1e-15 * value) << "t = " << t;
    }
    ++compared;
  }
  EXPECT_EQ(compared, 11);
}

TEST(WarmUp, CountsAsAsked) {
  Schedule schedule{.alpha_max = 12, .warmup = 4};
  EXPECT_EQ(values(schedule, 6), (std::vector<double>{3, 6, 9, 12, 12, 12}));
  schedule.warmup_count = WarmupCount::from_zero;
  EXPECT_EQ(values(schedule, 6), (std::vector<double>{0, 3, 6, 9, 12, 12}));
  schedule.warmup = 3;
  schedule.warmup_count = WarmupCount::nanogpt;
  EXPECT_EQ(values(schedule, 5), (std::vector<double>{3, 6, 9, 12, 12}));
}

TEST(WarmUp, OfZeroStepsIsNone) {
  for (const auto count : {WarmupCount::from_one, WarmupCount::from_zero, WarmupCount::nanogpt}) {
    EXPECT_EQ(alpha_at({.alpha_max = 2, .warmup = 0, .warmup_count = count}, 0), 2);
  }
}

TEST(WarmUp, RisesToThePeakWhateverTheProgress) {
  const Schedule schedule{
      .curve = Curve::linear, .alpha_max = 12, .warmup = 2, .total = 6, .progress = Progress::end};
  EXPECT_EQ(values(schedule, 7), (std::vector<double>{6, 12, 9, 6, 3, 0, 0}));
}

TEST(Decay, ComesAsFarAsAsked) {
  Schedule schedule{
      .curve = Curve::linear, .alpha_max = 13, .alpha_min = 1, .warmup = 0, .total = 4};
  EXPECT_EQ(values(schedule, 6), (std::vector<double>{13, 10, 7, 4, 1, 1}));
  schedule.progress = Progress::end;
  EXPECT_EQ(values(schedule, 5), (std::vector<double>{10, 7, 4, 1, 1}));
  schedule.progress = Progress::span;
  EXPECT_EQ(values(schedule, 5), (std::vector<double>{13, 9, 5, 1, 1}));
}

TEST(Decay, OfOneStepUnderSpanIsThePeak) {
  for (const Curve curve : {Curve::cosine, Curve::linear}) {
    const Schedule schedule{
        .curve = curve, .alpha_max = 2, .warmup = 3, .total = 4, .progress = Progress::span};
    EXPECT_EQ(alpha_at(schedule, 3), 2);
    EXPECT_EQ(alpha_at(schedule, 4), 0);
  }
}

TEST(Decay, HasNoPlaceIfWarmUpTakesAllSteps) {
  for (const Curve curve : {Curve::cosine, Curve::linear, Curve::wsd}) {
    for (const Progress progress : {Progress::begin, Progress::end, Progress::span}) {
      const Schedule schedule{.curve = curve,
                              .alpha_max = 4,
                              .alpha_min = 0.5,
                              .warmup = 4,
                              .total = 4,
                              .progress = progress};
      EXPECT_EQ(values(schedule, 6), (std::vector<double>{1, 2, 3, 4, 0.5, 0.5}));
    }
  }
}

TEST(Cosine, PassesTheMiddleHalfWay) {
  const Schedule schedule{.curve = Curve::cosine, .alpha_max = 2, .alpha_min = 1, .total = 10};
  EXPECT_DOUBLE_EQ(alpha_at(schedule, 5), 1.5);
  EXPECT_EQ(alpha_at(schedule, 0), 2);
  EXPECT_EQ(alpha_at(schedule, 10), 1);
}

TEST(Wsd, DecaysOverAFifthUnlessTold) {
  const auto first_decayed = [](std::uint64_t total) {
    const Schedule schedule{.curve = Curve::wsd, .alpha_max = 1, .total = total};
    validate(schedule);
    std::uint64_t t = 0;
    while (alpha_at(schedule, t) == 1) ++t;
    return t - 1;  // the decay begins at the peak
  };
  EXPECT_EQ(first_decayed(100), 80u);
  EXPECT_EQ(first_decayed(12), 10u);
  EXPECT_EQ(first_decayed(13), 10u);
  EXPECT_EQ(values({.curve = Curve::wsd, .alpha_max = 1, .total = 2}, 3),
            (std::vector<double>{1, 1, 0}));
}

TEST(Wsd, AppliesProgressToItsDecay) {
  Schedule schedule{.curve = Curve::wsd, .alpha_max = 1, .total = 6, .decay_steps = 4};
  EXPECT_EQ(values(schedule, 7)[3], 0.5);
  schedule.progress = Progress::end;
  EXPECT_EQ(values(schedule, 7)[2], 0.5);
  EXPECT_EQ(values(schedule, 7)[5], 0);
  schedule.decay_steps = 5;
  schedule.progress = Progress::span;
  EXPECT_EQ(values(schedule, 7)[1], 1);
  EXPECT_EQ(values(schedule, 7)[2], 0.5);
  EXPECT_EQ(values(schedule, 7)[5], 0);
}

TEST(Step, CountsMilestonesInAbsoluteSteps) {
  const Schedule schedule{
      .curve = Curve::step, .alpha_max = 16, .warmup = 4, .factor = 0.5, .milestones = {2, 5}};
  EXPECT_EQ(values(schedule, 7), (std::vector<double>{4, 8, 6, 8, 8, 4, 4}));
}

TEST(Step, WithoutMilestonesIsConstant) {
  EXPECT_EQ(values({.curve = Curve::step, .alpha_max = 2}, 3), (std::vector<double>{2, 2, 2}));
}

TEST(Schedules, StayFiniteAtTheEndOfTime) {
  constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  for (int curve = 0; curve <= static_cast<int>(Curve::power); ++curve) {
    const double alpha = alpha_at({.curve = static_cast<Curve>(curve), .total = 10}, last);
    EXPECT_TRUE(alpha >= 0 && alpha <= 5e-4) << curve;
  }
}

TEST(ValidateSchedule, NamesFieldBoundAndValue) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal({.alpha_max = -1}),
            "[validate] expected alpha_max finite and >= 0 but received -1");
  EXPECT_EQ(refusal({.alpha_max = nan}),
            "[validate] expected alpha_max finite and >= 0 but received nan");
  EXPECT_EQ(refusal({.alpha_min = INFINITY}),
            "[validate] expected alpha_min finite and >= 0 but received inf");
  EXPECT_EQ(refusal({.curve = Curve::cosine, .alpha_max = 1, .alpha_min = 2, .total = 5}),
            "[validate] expected alpha_min <= alpha_max = 1 but received 2");
  EXPECT_EQ(refusal({.p = -0.5}), "[validate] expected p finite and >= 0 but received -0.5");
  EXPECT_EQ(refusal({.factor = 0}), "[validate] expected factor in (0, 1] but received 0");
  EXPECT_EQ(refusal({.factor = 1.5}), "[validate] expected factor in (0, 1] but received 1.5");
  EXPECT_EQ(refusal({.factor = nan}), "[validate] expected factor in (0, 1] but received nan");
  EXPECT_EQ(refusal({.milestones = {3, 3}}),
            "[validate] expected increasing milestones but received 3 after 3");
  EXPECT_EQ(refusal({.warmup = std::uint64_t{1} << 60}),
            "[validate] expected warmup <= 2^53 but received 1152921504606846976");
  EXPECT_EQ(refusal({.curve = static_cast<Curve>(9)}),
            "[name] expected Curve in [0, 7) but received 9");
}

TEST(ValidateSchedule, AsksForALengthThatHoldsItsParts) {
  for (const Curve curve : {Curve::cosine, Curve::linear, Curve::wsd}) {
    EXPECT_EQ(refusal({.curve = curve}), "[validate] expected total >= 1 for curve " +
                                             std::string(name(curve)) + " but received 0");
  }
  EXPECT_EQ(refusal({.curve = Curve::cosine, .warmup = 6, .total = 5}),
            "[validate] expected warmup <= total = 5 but received 6");
  EXPECT_EQ(refusal({.curve = Curve::wsd, .warmup = 6, .total = 10, .decay_steps = 5}),
            "[validate] expected decay_steps <= total - warmup = 4 but received 5");
  EXPECT_EQ(refusal({.curve = Curve::wsd, .warmup = 9, .total = 10}),
            "[validate] expected decay_steps <= total - warmup = 1 but received 2, a fifth of "
            "total; set decay_steps");
  EXPECT_NO_THROW(validate({.curve = Curve::constant, .warmup = 6}));
}

TEST(ScheduleText, IsTheSameScheduleAgain) {
  EXPECT_TRUE(rc::check([] {
    Schedule schedule;
    schedule.curve = *testing::random_enumerator(Curve::power);
    schedule.alpha_max = 1 + *testing::random_fraction();
    schedule.alpha_min = *testing::random_fraction();
    schedule.warmup = *rc::gen::inRange<std::uint64_t>(0, 100);
    schedule.decay_steps = *rc::gen::inRange<std::uint64_t>(1, 100);
    schedule.total = schedule.warmup + schedule.decay_steps + *rc::gen::inRange(0, 1000000);
    schedule.p = *testing::random_fraction();
    schedule.factor = 1 - *testing::random_fraction();
    for (int i = *rc::gen::inRange(0, 5); i > 0; --i) {
      const std::uint64_t last = schedule.milestones.empty() ? 0 : schedule.milestones.back();
      schedule.milestones.push_back(last + *rc::gen::inRange<std::uint64_t>(1, 1000));
    }
    schedule.warmup_count = *testing::random_enumerator(WarmupCount::nanogpt);
    schedule.progress = *testing::random_enumerator(Progress::span);
    RC_ASSERT(schedule_from_json(to_json(schedule)) == schedule);
    RC_ASSERT(schedule_from_toml(to_toml(schedule)) == schedule);
  }));
}

TEST(ScheduleText, HasItsKeysInOneOrder) {
  EXPECT_EQ(to_json(Schedule{.milestones = {3, 6}}),
            R"({"curve":"constant","alpha_max":0.0005,"alpha_min":0.0,"warmup":0,"total":0,)"
            R"("decay_steps":0,"p":0.75,"factor":0.1,"milestones":[3,6],)"
            R"("warmup_count":"from_one","progress":"begin"})");
  EXPECT_EQ(schedule_from_toml("curve = 'cosine'\ntotal = 100\nalpha_max = 1"),
            (Schedule{.curve = Curve::cosine, .alpha_max = 1, .total = 100}));
}

TEST(ScheduleText, RefusesUnknownKeysAndWrongTypes) {
  EXPECT_EQ(error_of([] { schedule_from_toml("warm_up = 3"); }),
            "[schedule_from_toml] expected a known key but received \"warm_up\"; did you mean "
            "'warmup'?");
  EXPECT_EQ(error_of([] { schedule_from_json(R"({"total": 1.5})"); }),
            "[schedule_from_json] expected total as a whole number >= 0 but received 1.5");
  EXPECT_EQ(error_of([] { schedule_from_toml("total = -5"); }),
            "[schedule_from_toml] expected total as a whole number >= 0 but received -5");
  EXPECT_EQ(error_of([] { schedule_from_json(R"({"curve": "cosin"})"); }),
            "[schedule_from_json] expected curve as one of constant, cosine, linear, wsd, step, "
            "inverse, power but received \"cosin\"; did you mean 'cosine'?");
  EXPECT_EQ(error_of([] { schedule_from_json(R"({"curve": "cosine"})"); }),
            "[validate] expected total >= 1 for curve cosine but received 0");
}

}  // namespace
}  // namespace bcos
