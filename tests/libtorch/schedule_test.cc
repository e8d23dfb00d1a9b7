#include <gtest/gtest.h>
#include <torch/optim/schedulers/step_lr.h>

#include "bcos/libtorch.h"

namespace bcos::libtorch {
namespace {

struct Scheduled {
  torch::Tensor one = torch::zeros({1}).set_requires_grad(true);
  torch::Tensor two = torch::zeros({1}).set_requires_grad(true);
  BCOS optimizer;

  Scheduled() : optimizer({one}, BCOSOptions(0.4)) {
    optimizer.add_param_group({{two}, std::make_unique<BCOSOptions>(0.1)});
  }
  double lr(std::size_t group = 0) { return optimizer.param_groups()[group].options().get_lr(); }
};

const std::vector<Schedule>& every_schedule() {
  static const std::vector<Schedule> all = {
      {.curve = Curve::cosine, .alpha_max = 0.4, .alpha_min = 0.04, .warmup = 3, .total = 10},
      {.curve = Curve::linear, .alpha_max = 0.4, .warmup = 2, .total = 10},
      {.curve = Curve::wsd, .alpha_max = 0.4, .warmup = 2, .total = 10, .decay_steps = 4},
      {.curve = Curve::step, .alpha_max = 0.4, .warmup = 1, .milestones = {4, 7}}};
  return all;
}

TEST(ScheduleLR, FollowsTheEnginesCurveFromTheFirstStep) {
  for (const Schedule& schedule : every_schedule()) {
    Scheduled scheduled;
    ScheduleLR scheduler(scheduled.optimizer, schedule);
    for (std::uint64_t t = 0; t < 12; ++t) {
      EXPECT_NEAR(scheduled.lr(0), alpha_at(schedule, t), 1e-15) << t;
      EXPECT_NEAR(scheduled.lr(1), alpha_at(schedule, t) / 4, 1e-15) << "by its own peak";
      scheduled.optimizer.step();
      scheduler.step();
    }
  }
}

TEST(LibTorchsOwnSchedules, SetTheLearningRatesOfBCOS) {
  Scheduled scheduled;
  const double before = scheduled.lr(0);
  const double other = scheduled.lr(1);
  torch::optim::StepLR scheduler(scheduled.optimizer, /*step_size=*/2, /*gamma=*/0.5);
  for (int t = 0; t < 5; ++t) {
    const double factor = t < 3 ? 1 : t < 5 ? 0.5 : 0.25;  // LibTorch counts from 0
    EXPECT_NEAR(scheduled.lr(0), before * factor, 1e-15) << t;
    EXPECT_NEAR(scheduled.lr(1), other * factor, 1e-15) << t;
    scheduled.optimizer.step();
    scheduler.step();
  }
}

TEST(ScheduleLR, GoesOnAnywhere) {
  Scheduled scheduled;
  ScheduleLR scheduler(scheduled.optimizer, every_schedule()[0]);
  scheduler.set_steps(7);
  EXPECT_NEAR(scheduled.lr(), alpha_at(every_schedule()[0], 7), 1e-15);
  scheduler.step();
  EXPECT_NEAR(scheduled.lr(), alpha_at(every_schedule()[0], 8), 1e-15);
  EXPECT_EQ(scheduler.steps(), 8U);
}

TEST(ScheduleLR, RefusesWhatIsNoSchedule) {
  Scheduled scheduled;
  EXPECT_THROW(ScheduleLR(scheduled.optimizer, {.curve = Curve::cosine}), c10::Error);
  EXPECT_THROW(ScheduleLR(scheduled.optimizer, {.alpha_max = 0}), c10::Error);
}

}  // namespace
}  // namespace bcos::libtorch
