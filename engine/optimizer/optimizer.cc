#include "bcos/optimizer.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "bcos/text.hpp"
#include "engine/error.hpp"
#include "engine/make_room.hpp"
#include "engine/optimizer/optimizer_impl.hpp"
#include "engine/safetensors/layout.hpp"
#include "engine/suggestion.hpp"
#include "engine/update/check_max_norm.hpp"
#include "engine/update/strides.hpp"

namespace bcos {
namespace {

/// A name that a file will not hold is refused at once, not at the end of a run.
void check_name(const std::string& name) {
  if (name.empty()) throw fail("add", "expected a name but received an empty one");
  std::string_view problem = safetensors::name_problem(state_name("m", name));
  if (problem.empty() && !safetensors::is_utf8(name)) problem = "a name that is not UTF-8";
  if (!problem.empty()) {
    throw fail("add", "expected a name that a file can hold but received {}: {}", problem,
               safetensors::in_quotes(name));
  }
}

}  // namespace

GroupId Optimizer::Impl::add_group(const Method& method, const MethodOptions& options) {
  groups_.push_back(with(method, options));
  plan_.reset();
  return {groups_.size() - 1};
}

ParameterId Optimizer::Impl::add(std::string name, const TensorView& x, GroupId group) {
  if (group.index >= groups_.size()) {
    throw fail("add", "expected group < {} for '{}' but received {}", groups_.size(), name,
               group.index);
  }
  check_name(name);
  if (by_name_.contains(name)) {
    throw fail("add", "expected a new name but received '{}', which is there already", name);
  }
  const Method& method = groups_[group.index];
  const StateKinds kinds = state_kinds(method);
  OwnedParameter parameter;
  parameter.name = name;
  parameter.x = x.data;
  parameter.dtype = x.dtype;
  parameter.shape.assign(x.shape.begin(), x.shape.end());
  parameter.strides.assign(x.strides.begin(), x.strides.end());
  parameter.group = group.index;
  parameter.elements = element_count(x.shape);
  parameter.blocks[0] = static_cast<std::int64_t>(block_count(method.blocks, x.shape));
  const std::size_t size = bytes_of(x.dtype);
  if (kinds.m) parameter.m = StateBuffer(parameter.elements * size, x.data);
  if (kinds.u) parameter.u = StateBuffer(parameter.elements * size, x.data);
  if (kinds.v) {
    // A third place in the page, apart from x and from m.
    const void* apart = static_cast<const std::byte*>(x.data) + 1024;
    parameter.v = StateBuffer(static_cast<std::size_t>(parameter.blocks[0]) * size, apart);
  }
  // A plan of this parameter alone says what is wrong with it before it is taken in.
  const Parameter view = view_of(parameter, 0);
  const Plan alone({&method, 1}, {&view, 1}, plan_options());
  if (moved_) find_memory();
  std::map<std::uintptr_t, Extent> memory = memory_of(parameter, parameters_.size());
  // What may fail comes first; then nothing can.
  make_room(parameters_);
  make_room(steps_);
  by_name_.emplace(std::move(name), parameters_.size());
  memory_.merge(memory);
  parameters_.push_back(std::move(parameter));
  steps_.push_back(0);
  plan_.reset();
  return {parameters_.size() - 1};
}

std::map<std::uintptr_t, Optimizer::Impl::Extent> Optimizer::Impl::memory_of(
    const OwnedParameter& parameter, std::size_t index) const {
  // Interleaved views of one array share a range of addresses but no element.
  if (parameter.elements == 0 || !Strides(parameter.shape, parameter.strides, bytes_of(parameter.dtype)).dense()) {
    return {};
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(parameter.x);
  const std::uintptr_t end = begin + parameter.elements * bytes_of(parameter.dtype);
  const auto behind = memory_.lower_bound(end);
  if (behind != memory_.begin() && std::prev(behind)->second.end > begin) {
    throw fail("add",
               "expected memory of its own for '{}' but received memory that overlaps '{}': is one "
               "of them listed twice?",
               parameter.name, parameters_[std::prev(behind)->second.parameter].name);
  }
  return {{begin, {end, index}}};
}

void Optimizer::Impl::find_memory() {
  memory_.clear();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    std::map<std::uintptr_t, Extent> memory = memory_of(parameters_[i], i);
    memory_.merge(memory);
  }
  moved_ = false;
}

void Optimizer::Impl::move(ParameterId id, void* data) {
  checked(id, "move");
  OwnedParameter& parameter = parameters_[id.index];
  Parameter view = view_of(parameter, 0);
  view.x.data = data;
  const Plan alone({&groups_[parameter.group], 1}, {&view, 1}, plan_options());
  parameter.x = data;
  moved_ = true;
  plan_.reset();
}

StepReport Optimizer::Impl::step(std::span<const double> alphas,
                                 std::span<const ParameterGradient> gradients, double grad_scale) {
  if (!plan_) make_plan();
  std::ranges::fill(gradients_, Gradient{});
  for (const ParameterGradient& given : gradients) {
    const OwnedParameter& parameter = checked(given.parameter, "step");
    if (given.checked && (given.dtype != parameter.dtype || given.elements != parameter.elements)) {
      throw fail(ErrorCode::mismatch, "step",
                 "expected {} {} elements as the gradient of '{}' but received {} of {}",
                 parameter.elements, bcos::name(parameter.dtype), parameter.name, given.elements,
                 bcos::name(given.dtype));
    }
    Gradient& place = gradients_[given.parameter.index];
    if (place.data != nullptr) {
      throw fail("step", "expected one gradient for '{}' but received two", parameter.name);
    }
    place = given.gradient;
  }
  StepOptions options;
  options.grad_scale = grad_scale;
  options.max_norm = options_.max_norm;
  options.guard = options_.guard;
  const StepReport report = plan_->update(gradients_, alphas, steps_, options);
  if (report.skipped) ++skipped_steps_;
  return report;
}

void Optimizer::Impl::set_numbers(GroupId group, const Method& changed) {
  Method& method = groups_[group.index];
  if (!same_but_numbers(changed, method)) {
    throw fail("set_numbers", "expected numbers alone but received another part of a method");
  }
  validate(changed);
  if (plan_) plan_->set_numbers(group.index, changed);
  method = changed;
}

const Method& Optimizer::Impl::checked(GroupId group, std::string_view where) const {
  if (group.index >= groups_.size()) {
    throw fail(where, "expected group < {} but received {}", groups_.size(), group.index);
  }
  return groups_[group.index];
}

const OwnedParameter& Optimizer::Impl::checked(ParameterId id, std::string_view where) const {
  if (id.index >= parameters_.size()) {
    throw fail(where, "expected parameter < {} but received {}", parameters_.size(), id.index);
  }
  return parameters_[id.index];
}

ParameterId Optimizer::Impl::find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  if (found != by_name_.end()) return {found->second};
  std::vector<std::string_view> known;
  known.reserve(parameters_.size());
  for (const OwnedParameter& parameter : parameters_) known.emplace_back(parameter.name);
  throw fail("find", "expected a known parameter but received '{}'{}", name,
             suggestion(name, known));
}

ParameterState Optimizer::Impl::state(ParameterId id) const {
  const OwnedParameter& parameter = checked(id, "state");
  const Parameter view = view_of(parameter, 0);
  return {view.m, view.v, view.u, steps_[id.index]};
}

void Optimizer::Impl::set_steps(ParameterId id, std::uint64_t steps) {
  checked(id, "set_steps");
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (steps > kMost) throw fail("set_steps", "expected steps < 2^63 but received {}", steps);
  steps_[id.index] = steps;
}

std::uint64_t Optimizer::Impl::state_bytes() const {
  std::uint64_t bytes = 0;
  for (const OwnedParameter& parameter : parameters_) {
    for (const StateBuffer* state : {&parameter.m, &parameter.v, &parameter.u}) {
      bytes += state->bytes().size();
    }
  }
  return bytes;
}

Parameter Optimizer::Impl::view_of(const OwnedParameter& parameter, std::size_t group) {
  Parameter view;
  view.x = {parameter.x, parameter.dtype, parameter.shape, parameter.strides};
  view.m = {parameter.m.data(), parameter.dtype, parameter.shape, {}};
  view.u = {parameter.u.data(), parameter.dtype, parameter.shape, {}};
  view.v = {parameter.v.data(), parameter.dtype, parameter.blocks, {}};
  view.group = group;
  view.name = parameter.name;
  return view;
}

void Optimizer::Impl::make_plan() {
  std::vector<Parameter> views;
  views.reserve(parameters_.size());
  for (const OwnedParameter& parameter : parameters_) {
    views.push_back(view_of(parameter, parameter.group));
  }
  plan_.emplace(groups_, views, plan_options());
  gradients_.resize(parameters_.size());
}

Optimizer::Optimizer(const Method& method, const MethodOptions& options,
                     const OptimizerOptions& optimizer_options)
    : impl_(std::make_unique<Impl>(optimizer_options)) {
  check_max_norm(optimizer_options.max_norm, "Optimizer");
  impl_->add_group(method, options);
}
Optimizer::~Optimizer() = default;
Optimizer::Optimizer(Optimizer&&) noexcept = default;
Optimizer& Optimizer::operator=(Optimizer&&) noexcept = default;

GroupId Optimizer::add_group(const Method& method, const MethodOptions& options) {
  return impl_->add_group(method, options);
}

ParameterId Optimizer::add(std::string name, TensorView x, GroupId group) {
  return impl_->add(std::move(name), x, group);
}

namespace {

template <class T>
ParameterId add_span(Optimizer& optimizer, std::string name, std::span<T> x,
                     std::initializer_list<std::int64_t> shape, GroupId group, DType dtype) {
  const std::int64_t flat[] = {static_cast<std::int64_t>(x.size())};
  const Dims dims = shape.size() == 0 ? Dims(flat) : Dims(shape.begin(), shape.size());
  if (element_count(dims) != x.size()) {
    throw fail(ErrorCode::mismatch, "add",
               "expected {} elements for '{}' of shape [{}] but received {}", element_count(dims),
               name, fmt::join(dims, ", "), x.size());
  }
  return optimizer.add(std::move(name), TensorView{x.data(), dtype, dims, {}}, group);
}

}  // namespace

ParameterId Optimizer::add(std::string name, std::span<float> x,
                           std::initializer_list<std::int64_t> shape, GroupId group) {
  return add_span(*this, std::move(name), x, shape, group, DType::f32);
}

ParameterId Optimizer::add(std::string name, std::span<double> x,
                           std::initializer_list<std::int64_t> shape, GroupId group) {
  return add_span(*this, std::move(name), x, shape, group, DType::f64);
}

void Optimizer::move(ParameterId x, void* data) { impl_->move(x, data); }

StepReport Optimizer::step(double alpha, std::initializer_list<ParameterGradient> gradients,
                           double grad_scale) {
  return step(alpha, std::span(gradients.begin(), gradients.size()), grad_scale);
}

StepReport Optimizer::step(double alpha, std::span<const ParameterGradient> gradients,
                           double grad_scale) {
  impl_->alphas_.assign(impl_->groups_.size(), alpha);
  return impl_->step(impl_->alphas_, gradients, grad_scale);
}

StepReport Optimizer::step(std::span<const double> alphas,
                           std::span<const ParameterGradient> gradients, double grad_scale) {
  return impl_->step(alphas, gradients, grad_scale);
}

void Optimizer::set_numbers(GroupId group, const MethodOptions& options) {
  impl_->set_numbers(group, with(impl_->checked(group, "set_numbers"), options));
}
void Optimizer::replace_numbers(GroupId group, const Method& method) {
  impl_->checked(group, "set_numbers");
  impl_->set_numbers(group, method);
}
void Optimizer::set_max_norm(std::optional<double> max_norm) {
  check_max_norm(max_norm, "set_max_norm");
  impl_->options_.max_norm = max_norm;
}

const Method& Optimizer::method(GroupId group) const { return impl_->checked(group, "method"); }
std::size_t Optimizer::groups() const { return impl_->groups_.size(); }
std::size_t Optimizer::parameters() const { return impl_->parameters_.size(); }
std::string_view Optimizer::name(ParameterId parameter) const {
  return impl_->checked(parameter, "name").name;
}
ParameterId Optimizer::find(std::string_view name) const { return impl_->find(name); }
ParameterState Optimizer::state(ParameterId parameter) const { return impl_->state(parameter); }
void Optimizer::set_steps(ParameterId parameter, std::uint64_t steps) {
  impl_->set_steps(parameter, steps);
}
std::uint64_t Optimizer::state_bytes() const { return impl_->state_bytes(); }
std::uint64_t Optimizer::skipped_steps() const { return impl_->skipped_steps_; }

void Optimizer::save(const std::string& path) const { impl_->save(path); }
void Optimizer::load(const std::string& path, const LoadOptions& options) {
  impl_->load(path, options);
}
void Optimizer::convert(const std::string& path) { impl_->convert(path); }

}  // namespace bcos
