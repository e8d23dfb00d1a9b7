#include <algorithm>

#include "engine/error.hpp"
#include "engine/make_room.hpp"
#include "engine/update/plan_impl.hpp"

namespace bcos {
namespace {

void check_index(std::size_t index, std::size_t size, const char* function, const char* what) {
  if (index < size) return;
  throw fail(function, "expected {} < {} but received {}", what, size, index);
}

}  // namespace

Plan::Impl::Kept::Kept(const Parameter& given) : view(given) {
  auto next = dims.begin();
  for (TensorView* tensor : {&view.x, &view.m, &view.v, &view.u}) {
    for (Dims* viewed : {&tensor->shape, &tensor->strides}) {
      next->assign(viewed->begin(), viewed->end());
      *viewed = *next++;
    }
  }
}

Plan::Impl::Impl(const PlanOptions& options)
    : target(options.target.value_or(default_target())),
      f32(options.executor, target, written),
      f64(options.executor, target, written),
      shares{{&f32}, {&f64}} {
  if (!std::ranges::count(available_targets(), target)) {
    throw fail("plan", "expected a target this CPU can run but received {}", bcos::name(target));
  }
  for (Backend* backend : options.backends) {
    if (backend == nullptr) throw fail("plan", "expected addresses of backends but received null");
    shares.push_back({backend});
  }
}

Plan::Plan(const PlanOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Plan::Plan(std::span<const Method> groups, std::span<const Parameter> parameters,
           const PlanOptions& options)
    : Plan(options) {
  for (const Method& method : groups) add_group(method);
  for (const Parameter& parameter : parameters) add(parameter);
}
Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

std::size_t Plan::groups() const { return impl_->methods.size(); }
std::size_t Plan::parameters() const { return impl_->entries.size(); }
Target Plan::target() const { return impl_->target; }

const Method& Plan::method(std::size_t group) const {
  check_index(group, groups(), "method", "group");
  return impl_->methods[group];
}

Parameter Plan::parameter(std::size_t index) const {
  check_index(index, parameters(), "parameter", "parameter");
  const Impl::Known& known = impl_->known[index];
  Parameter parameter = known.kept.view;
  parameter.name = known.name;
  return parameter;
}

std::size_t Plan::add_group(const Method& method) {
  validate(method);
  impl_->methods.push_back(method);
  return groups() - 1;
}

std::size_t Plan::add(const Parameter& parameter) {
  Impl& plan = *impl_;
  const std::size_t index = parameters();
  if (parameter.group >= groups()) {
    throw fail("plan", "expected group < {} for parameter {} but received {}", groups(), index,
               parameter.group);
  }
  if (parameter.device + 2 > plan.shares.size()) {
    throw fail("plan",
               "expected device < {} for parameter {} but received {}; device d > 0 is "
               "PlanOptions::backends[d - 1]",
               plan.shares.size() - 1, index, parameter.device);
  }
  name(parameter.x.dtype);  // throws for what is no DType
  const std::size_t of_host = parameter.x.dtype == DType::f32 ? 0 : 1;
  const std::size_t backend = parameter.device == 0 ? of_host : parameter.device + 1;
  Impl::Share& share = plan.shares[backend];
  make_room(plan.entries);
  make_room(plan.squares, index + 1);
  make_room(plan.numbers, index + 1);
  make_room(share.items, index + 1);
  make_room(share.parameters, index + 1);
  make_room(share.squares, index + 1);
  plan.known.push_back({std::string(parameter.name),
                        parameter.name.empty() ? fmt::format("parameter {}", index)
                                               : fmt::format("'{}'", parameter.name),
                        Impl::Kept(parameter)});
  try {
    const Impl::Known& known = plan.known.back();
    const Place place =
        share.backend->add(known.kept.view, plan.methods[parameter.group], known.label);
    plan.entries.push_back(
        {backend, parameter.group, place, element_count(parameter.x.shape), parameter.x.dtype});
  } catch (...) {
    plan.known.pop_back();
    throw;
  }
  return index;
}

void Plan::move(std::size_t index, const Parameter& to) {
  const Parameter before = parameter(index);
  Impl::Known& known = impl_->known[index];
  if (to.x.dtype != before.x.dtype || !std::ranges::equal(to.x.shape, before.x.shape)) {
    throw fail(ErrorCode::mismatch, "move",
               "expected {} with its dtype and shape but received others", known.label);
  }
  Parameter moved = to;
  moved.group = before.group;
  moved.device = before.device;
  Impl::Kept kept(moved);
  const Impl::Entry& entry = impl_->entries[index];
  impl_->shares[entry.backend].backend->move(entry.place.slot, kept.view);
  known.kept = std::move(kept);
}

void Plan::set_numbers(std::size_t group, const Method& method) {
  check_index(group, groups(), "set_numbers", "group");
  if (!same_but_numbers(impl_->methods[group], method)) {
    throw fail(ErrorCode::mismatch, "set_numbers",
               "expected a method that differs in its numbers alone: make a new plan");
  }
  validate(method);
  impl_->methods[group] = method;
}

StepReport Plan::update(std::span<const Gradient> gradients, std::span<const double> alphas,
                        std::span<std::uint64_t> steps, const StepOptions& options) {
  return impl_->update(gradients, alphas, steps, options);
}

StepReport update(std::span<const Method> groups, std::span<const Parameter> parameters,
                  std::span<const Gradient> gradients, std::span<const double> alphas,
                  std::span<std::uint64_t> steps, const StepOptions& options,
                  const PlanOptions& plan_options) {
  return Plan(groups, parameters, plan_options).update(gradients, alphas, steps, options);
}

}  // namespace bcos
