#include "bcos/libtorch.h"
#include "libtorch/errors.hpp"

namespace bcos::libtorch {

ScheduleLR::ScheduleLR(torch::optim::Optimizer& optimizer, Schedule schedule)
    : LRScheduler(optimizer), scheduled_(optimizer), schedule_(std::move(schedule)) {
  translated([&] { validate(schedule_); });
  TORCH_CHECK(schedule_.alpha_max > 0, "Invalid schedule: expected alpha_max > 0 but received ",
              schedule_.alpha_max);
  peaks_ = get_current_lrs();
  set_steps(0);
}

void ScheduleLR::set_steps(std::uint64_t steps) {
  step_count_ = static_cast<unsigned>(steps);
  const std::vector<double> lrs = lrs_at(steps);
  for (std::size_t k = 0; k < lrs.size(); ++k) {
    scheduled_.param_groups()[k].options().set_lr(lrs[k]);
  }
}

// torch counts after it has asked: this is the rate of the step to come.
std::vector<double> ScheduleLR::get_lrs() { return lrs_at(std::uint64_t{step_count_} + 1); }

std::vector<double> ScheduleLR::lrs_at(std::uint64_t t) const {
  const double share = alpha_at(schedule_, t) / schedule_.alpha_max;
  std::vector<double> lrs = peaks_;
  for (double& lr : lrs) lr *= share;
  return lrs;
}

}  // namespace bcos::libtorch
