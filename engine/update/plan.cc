#include <algorithm>

#include "engine/error.hpp"
#include "engine/make_room.hpp"
#include "engine/update/plan_impl.hpp"

namespace bcos {

Plan::Impl::Kept::Kept(const Parameter& given) : view_(given) {
  view_.x = keep(given.x, 0);
  view_.m = keep(given.m, 1);
  view_.v = keep(given.v, 2);
  view_.u = keep(given.u, 3);
}

TensorView Plan::Impl::Kept::keep(const TensorView& given, std::size_t which) {
  auto& [shape, strides] = dims_[which];
  shape.assign(given.shape.begin(), given.shape.end());
  strides.assign(given.strides.begin(), given.strides.end());
  return {given.data, given.dtype, shape, strides};
}

Plan::Impl::Impl(const PlanOptions& options)
    : target_(options.target.value_or(default_target())),
      f32_(options.executor, target_, written_),
      f64_(options.executor, target_, written_) {
  if (!std::ranges::count(available_targets(), target_)) {
    throw fail("plan", "expected a target this CPU can run but received {}", name(target_));
  }
  shares_ = {{&f32_}, {&f64_}};
  for (Backend* backend : options.backends) {
    if (backend == nullptr) throw fail("plan", "expected backends but received null");
    shares_.push_back({backend});
  }
}

std::size_t Plan::Impl::add_group(const Method& method) {
  validate(method);
  methods_.push_back(method);
  return methods_.size() - 1;
}

const Method& Plan::Impl::method(std::size_t group) const {
  if (group >= methods_.size()) {
    throw fail("method", "expected group < {} but received {}", methods_.size(), group);
  }
  return methods_[group];
}

Parameter Plan::Impl::parameter(std::size_t index) const {
  if (index >= kept_.size()) {
    throw fail("parameter", "expected parameter < {} but received {}", kept_.size(), index);
  }
  Parameter parameter = kept_[index].view();
  parameter.name = names_[index];
  return parameter;
}

std::size_t Plan::Impl::add(const Parameter& parameter) {
  const std::size_t index = entries_.size();
  if (parameter.group >= methods_.size()) {
    throw fail("plan", "expected group < {} for parameter {} but received {}", methods_.size(),
               index, parameter.group);
  }
  if (parameter.device + 2 > shares_.size()) {
    throw fail("plan", "expected device < {} for parameter {} but received {}", shares_.size() - 1,
               index, parameter.device);
  }
  name(parameter.x.dtype);  // throws for what is no DType
  const std::size_t of_host = parameter.x.dtype == DType::f32 ? 0 : 1;
  const std::size_t backend = parameter.device == 0 ? of_host : parameter.device + 1;
  Share& share = shares_[backend];
  make_room(entries_);
  make_room(squares_, index + 1);
  make_room(numbers_, index + 1);
  make_room(share.items, index + 1);
  make_room(share.parameters, index + 1);
  make_room(share.squares, index + 1);
  names_.emplace_back(parameter.name);
  labels_.push_back(parameter.name.empty() ? fmt::format("parameter {}", index)
                                           : fmt::format("'{}'", parameter.name));
  try {
    kept_.emplace_back(parameter);
    const Place place =
        share.backend->add(kept_.back().view(), methods_[parameter.group], labels_.back());
    entries_.push_back({static_cast<std::uint32_t>(backend),
                        static_cast<std::uint32_t>(parameter.group), place,
                        element_count(parameter.x.shape), parameter.x.dtype});
  } catch (...) {
    if (kept_.size() > index) kept_.pop_back();
    labels_.pop_back();
    names_.pop_back();
    throw;
  }
  return index;
}

void Plan::Impl::move(std::size_t index, const Parameter& to) {
  const Parameter before = parameter(index);
  if (to.x.dtype != before.x.dtype || !std::ranges::equal(to.x.shape, before.x.shape)) {
    throw fail(ErrorCode::mismatch, "move",
               "expected {} with its dtype and shape but received "
               "others",
               labels_[index]);
  }
  Parameter moved = to;
  moved.group = before.group;
  moved.device = before.device;
  moved.name = before.name;
  Kept kept(moved);
  const Entry& entry = entries_[index];
  shares_[entry.backend].backend->move(entry.place.slot, kept.view());
  kept_[index] = std::move(kept);
}

void Plan::Impl::set_numbers(std::size_t group, const Method& method) {
  if (group >= methods_.size()) {
    throw fail("set_numbers", "expected group < {} but received {}", methods_.size(), group);
  }
  if (!same_but_numbers(methods_[group], method)) {
    throw fail(ErrorCode::mismatch, "set_numbers",
               "expected a method that differs in its numbers alone: make a new plan");
  }
  validate(method);
  methods_[group] = method;
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

std::size_t Plan::add_group(const Method& method) { return impl_->add_group(method); }
std::size_t Plan::add(const Parameter& parameter) { return impl_->add(parameter); }
void Plan::move(std::size_t parameter, const Parameter& to) { impl_->move(parameter, to); }
std::size_t Plan::groups() const { return impl_->groups(); }
std::size_t Plan::parameters() const { return impl_->parameters(); }
const Method& Plan::method(std::size_t group) const { return impl_->method(group); }
Parameter Plan::parameter(std::size_t index) const { return impl_->parameter(index); }
void Plan::set_numbers(std::size_t group, const Method& method) {
  impl_->set_numbers(group, method);
}
Target Plan::target() const { return impl_->target(); }

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
