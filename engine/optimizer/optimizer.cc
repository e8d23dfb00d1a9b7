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
  return {plan_.add_group(with(method, options))};
}

ParameterId Optimizer::Impl::add(std::string name, const TensorView& x, GroupId group) {
  if (group.index >= plan_.groups()) {
    throw fail("add", "expected group < {} for '{}' but received {}", plan_.groups(), name,
               group.index);
  }
  check_name(name);
  if (by_name_.contains(name)) {
    throw fail("add", "expected a new name but received '{}', which is there already", name);
  }
  const Method& method = plan_.method(group.index);
  const StateKinds kinds = state_kinds(method);
  const std::uint64_t bytes = element_count(x.shape) * bytes_of(x.dtype);
  const auto blocks = static_cast<std::int64_t>(block_count(method.blocks, x.shape));
  // States lie as x does: a step then reads all of them in one order.
  const std::vector<std::int64_t> strides = dense_like(x.shape, x.strides);
  const bool v_like_x = method.blocks.layout == Layout::coordinate && !strides.empty();
  States states;
  if (kinds.m) states.m = StateBuffer(bytes, x.data);
  if (kinds.u) states.u = StateBuffer(bytes, x.data);
  if (kinds.v) {
    // A third place in the page, apart from x and from m.
    const void* apart = static_cast<const std::byte*>(x.data) + 1024;
    states.v = StateBuffer(static_cast<std::size_t>(blocks) * bytes_of(x.dtype), apart);
  }
  const std::size_t index = plan_.parameters();
  make_room(states_);
  make_room(steps_);
  make_room(gradients_);
  const auto named = by_name_.emplace(name, index).first;
  try {
    const TensorView per_block{states.v.data(), x.dtype, {&blocks, 1}, {}};
    plan_.add({.x = x,
               .m = {states.m.data(), x.dtype, x.shape, strides},
               .v = v_like_x ? TensorView{per_block.data, x.dtype, x.shape, strides} : per_block,
               .u = {states.u.data(), x.dtype, x.shape, strides},
               .group = group.index,
               .name = name});
  } catch (...) {
    by_name_.erase(named);
    throw;
  }
  states_.push_back(std::move(states));
  steps_.push_back(0);
  gradients_.emplace_back();
  return {index};
}

void Optimizer::Impl::move(ParameterId id, void* data) {
  Parameter moved = parameter(id, "move");
  moved.x.data = data;
  plan_.move(id.index, moved);
}

StepReport Optimizer::Impl::step(std::span<const double> alphas,
                                 std::span<const ParameterGradient> gradients, double grad_scale) {
  std::ranges::fill(gradients_, Gradient{});
  for (const ParameterGradient& given : gradients) {
    const Parameter parameter = this->parameter(given.parameter, "step");
    const std::uint64_t elements = element_count(parameter.x.shape);
    if (given.checked && (given.dtype != parameter.x.dtype || given.elements != elements)) {
      throw fail(ErrorCode::mismatch, "step",
                 "expected {} {} elements as the gradient of '{}' but received {} of {}", elements,
                 bcos::name(parameter.x.dtype), parameter.name, given.elements,
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
  const StepReport report = plan_.update(gradients_, alphas, steps_, options);
  if (report.skipped) ++skipped_steps_;
  return report;
}

void Optimizer::Impl::set_numbers(GroupId group, const Method& changed) {
  if (!same_but_numbers(changed, method(group, "set_numbers"))) {
    throw fail("set_numbers", "expected numbers alone but received another part of a method");
  }
  plan_.set_numbers(group.index, changed);
}

const Method& Optimizer::Impl::method(GroupId group, std::string_view where) const {
  if (group.index >= plan_.groups()) {
    throw fail(where, "expected group < {} but received {}", plan_.groups(), group.index);
  }
  return plan_.method(group.index);
}

Parameter Optimizer::Impl::parameter(ParameterId id, std::string_view where) const {
  if (id.index >= plan_.parameters()) {
    throw fail(where, "expected parameter < {} but received {}", plan_.parameters(), id.index);
  }
  return plan_.parameter(id.index);
}

ParameterId Optimizer::Impl::find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  if (found != by_name_.end()) return {found->second};
  std::vector<std::string_view> known;
  known.reserve(plan_.parameters());
  for (std::size_t i = 0; i < plan_.parameters(); ++i) known.push_back(plan_.parameter(i).name);
  throw fail("find", "expected a known parameter but received '{}'{}", name,
             suggestion(name, known));
}

ParameterState Optimizer::Impl::state(ParameterId id) const {
  const Parameter p = parameter(id, "state");
  return {p.m, p.v, p.u, steps_[id.index]};
}

void Optimizer::Impl::set_steps(ParameterId id, std::uint64_t steps) {
  parameter(id, "set_steps");
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (steps > kMost) throw fail("set_steps", "expected steps < 2^63 but received {}", steps);
  steps_[id.index] = steps;
}

std::uint64_t Optimizer::Impl::state_bytes() const {
  std::uint64_t bytes = 0;
  for (const States& states : states_) {
    for (const StateBuffer* state : {&states.m, &states.v, &states.u}) {
      bytes += state->bytes().size();
    }
  }
  return bytes;
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
  impl_->alphas_.assign(groups(), alpha);
  return impl_->step(impl_->alphas_, gradients, grad_scale);
}

StepReport Optimizer::step(std::span<const double> alphas,
                           std::span<const ParameterGradient> gradients, double grad_scale) {
  return impl_->step(alphas, gradients, grad_scale);
}

void Optimizer::set_numbers(GroupId group, const MethodOptions& options) {
  impl_->set_numbers(group, with(impl_->method(group, "set_numbers"), options));
}
void Optimizer::replace_numbers(GroupId group, const Method& method) {
  impl_->set_numbers(group, method);
}
void Optimizer::set_max_norm(std::optional<double> max_norm) {
  check_max_norm(max_norm, "set_max_norm");
  impl_->options_.max_norm = max_norm;
}

const Method& Optimizer::method(GroupId group) const { return impl_->method(group, "method"); }
std::size_t Optimizer::groups() const { return impl_->plan_.groups(); }
std::size_t Optimizer::parameters() const { return impl_->plan_.parameters(); }
std::string_view Optimizer::name(ParameterId parameter) const {
  return impl_->parameter(parameter, "name").name;
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
