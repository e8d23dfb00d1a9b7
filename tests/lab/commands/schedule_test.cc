#include <gtest/gtest.h>

#include "lab/commands/schedule/schedule_options.hpp"
#include "lab/commands/schedule/schedule_steps.hpp"
#include "tests/engine/expect_error.hpp"

namespace bcos::lab::commands {
namespace {

using bcos::testing::error_of;

Schedule parsed(const std::string& command_line) {
  CLI::App app("", "schedule");
  ScheduleOptions options;
  add_schedule_options(app, options);
  app.parse(command_line);
  return schedule_of(options);
}

TEST(ScheduleOptionsOnTheCommandLine, SetEveryField) {
  const Schedule wsd{.curve = Curve::wsd,
                     .alpha_max = 0.002,
                     .alpha_min = 1e-5,
                     .warmup = 10,
                     .total = 100,
                     .decay_steps = 30,
                     .warmup_count = WarmupCount::nanogpt,
                     .progress = Progress::span};
  EXPECT_EQ(parsed("--curve wsd --alpha-max 2e-3 --alpha-min 1e-5 --warmup 10 --total 100 "
                   "--decay-steps 30 --warmup-count nanogpt --progress span"),
            wsd);
  const Schedule step{.curve = Curve::step, .factor = 0.5, .milestones = {3, 5}};
  EXPECT_EQ(parsed("--curve step --factor .5 --milestones 3,5"), step);
  const Schedule power{.curve = Curve::power, .p = 0.6};
  EXPECT_EQ(parsed("--curve power --p 0.6"), power);
}

TEST(ScheduleOptionsOnTheCommandLine, AreRefusedWhereTheCurveDoesNotReadThem) {
  EXPECT_EQ(error_of([] { parsed("--curve power --alpha-min 1e-5"); }),
            "[schedule] expected --alpha-min with --curve cosine, linear, wsd alone but received "
            "it with --curve power");
  EXPECT_EQ(parsed(R"(--json '{"curve":"linear","total":5,"p":0.5}')").p, 0.5);
}

TEST(ScheduleOptionsOnTheCommandLine, ChangeWhatJsonSays) {
  const Schedule schedule = parsed(R"(--total 9 --json '{"curve":"linear","total":5}')");
  EXPECT_EQ(schedule.curve, Curve::linear);
  EXPECT_EQ(schedule.total, 9U);
}

TEST(ScheduleOptionsOnTheCommandLine, AreNamedInErrors) {
  EXPECT_EQ(error_of([] { parsed("--alpha-max fast"); }),
            "[schedule] expected --alpha-max as a finite number but received 'fast'");
  EXPECT_EQ(error_of([] { parsed("--warmup=-3"); }),
            "[schedule] expected --warmup as a whole number but received '-3'");
  EXPECT_EQ(error_of([] { parsed("--alpha-min=-3"); }),
            "[schedule] expected --alpha-min finite and >= 0 but received -3");
  EXPECT_EQ(error_of([] { parsed("--milestones 1,,2"); }),
            "[schedule] expected --milestones as whole numbers a,b,c but received '1,,2'");
  EXPECT_EQ(error_of([] { parsed("--total 3 --total 4"); }),
            "[schedule] expected --total once but received it 2 times");
  const std::string curve = error_of([] { parsed("--curve cosin"); });
  EXPECT_TRUE(curve.starts_with("[schedule] expected --curve as one of constant,")) << curve;
  EXPECT_NE(curve.find("did you mean 'cosine'?"), std::string::npos) << curve;
}

TEST(ShownSteps, EndWithTheLastStep) {
  using Steps = std::vector<std::uint64_t>;
  EXPECT_EQ(shown_steps(1, 1), Steps({0}));
  EXPECT_EQ(shown_steps(10, 4), Steps({0, 4, 8, 9}));
  EXPECT_EQ(shown_steps(9, 4), Steps({0, 4, 8}));
  EXPECT_EQ(shown_steps(3, UINT64_MAX), Steps({0, 2}));
  EXPECT_EQ(shown_steps(UINT64_MAX, UINT64_MAX - 2), Steps({0, UINT64_MAX - 2, UINT64_MAX - 1}));
}

TEST(RoundEvery, LeavesAboutFortyRowsOfLongSchedules) {
  EXPECT_EQ(round_every(1, 40), 1U);
  EXPECT_EQ(round_every(40, 40), 1U);
  EXPECT_EQ(round_every(41, 40), 2U);
  EXPECT_EQ(round_every(100'000, 40), 2500U);
  EXPECT_EQ(round_every(100'001, 40), 5000U);
  for (std::uint64_t steps = 41; steps < 5'000'000; steps = steps * 5 / 4) {
    const std::size_t rows = shown_steps(steps, round_every(steps, 40)).size();
    EXPECT_GE(rows, 15U) << steps;
    EXPECT_LE(rows, 41U) << steps;
  }
}

TEST(NaturalSteps, AreTheTotalOrPastTheLastMilestone) {
  EXPECT_EQ(natural_steps({.total = 7}), 7U);
  EXPECT_EQ(natural_steps({.curve = Curve::step, .milestones = {40, 80}}), 101U);
  EXPECT_EQ(natural_steps({.warmup = 300}), 600U);
  EXPECT_EQ(natural_steps({}), 100U);
}

TEST(ScheduleTitle, SaysTheCurveAndWhatIsNotDefault) {
  EXPECT_EQ(title_of({}), "constant, alpha_max 0.0005");
  EXPECT_EQ(title_of({.curve = Curve::cosine, .warmup = 2, .total = 9, .progress = Progress::end}),
            "cosine, alpha_max 0.0005, warmup 2, total 9, progress end");
}

TEST(SchedulePlot, HasTheCornersOfALongSchedule) {
  const Schedule schedule{
      .curve = Curve::step, .milestones = {123'457}, .warmup_count = WarmupCount::from_one};
  const plot::LinePlot plot = plot_of(schedule, 1'000'000);
  EXPECT_LT(plot.points.size(), 1100U);
  std::size_t corners = 0;
  for (const auto& point : plot.points) corners += point.x == 123'456 || point.x == 123'457;
  EXPECT_EQ(corners, 2U);
  EXPECT_EQ(plot.points.back().x, 999'999);
}

}  // namespace
}  // namespace bcos::lab::commands
