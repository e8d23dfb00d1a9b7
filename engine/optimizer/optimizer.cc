#include "bcos/optimizer.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>

#include "bcos/text.hpp"
#include "engine/error.hpp"
#include "engine/nearest.hpp"
#include "engine/optimizer/state_buffer.hpp"
#include "engine/optimizer/state_file.hpp"
#include "engine/safetensors/layout.hpp"

namespace bcos {
namespace {

struct OwnedParameter {
  std::string name;
  void* x = nullptr;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::size_t group = 0;
  std::uint64_t elements = 0;
  std::int64_t blocks[1] = {0};
  StateBuffer m, v, u;
};

std::string method_label(const Method& method) {
  const std::string known = name_of(method);
  return known.empty() ? to_json(method) : known;
}

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

/// Room for one more, in steps that double.
template <class T>
void make_room(std::vector<T>& values) {
  if (values.size() == values.capacity()) values.reserve(2 * values.size() + 1);
}

Method numbers_of(Method structure, const Method& numbers) {
  structure.beta = numbers.beta;
  structure.beta_v = numbers.beta_v;
  structure.eps = numbers.eps;
  structure.eps_root = numbers.eps_root;
  structure.lambda = numbers.lambda;
  structure.c = numbers.c;
  return structure;
}

/// One state of a parameter with the bytes a file has for it.
struct Incoming {
  std::span<std::byte> to;
  std::vector<std::byte> bytes;
};

}  // namespace

class Optimizer::Impl {
 public:
  explicit Impl(const OptimizerOptions& options) : options_(options) {}

  GroupId add_group(const Method& method, const MethodOptions& options) {
    groups_.push_back(with(method, options));
    plan_.reset();
    return {groups_.size() - 1};
  }

  ParameterId add(std::string name, const TensorView& x, GroupId group) {
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
    // What may fail comes first; then nothing can.
    make_room(parameters_);
    make_room(steps_);
    by_name_.emplace(std::move(name), parameters_.size());
    parameters_.push_back(std::move(parameter));
    steps_.push_back(0);
    plan_.reset();
    return {parameters_.size() - 1};
  }

  StepReport step(std::span<const double> alphas, std::span<const ParameterGradient> gradients) {
    if (!plan_) make_plan();
    std::ranges::fill(gradients_, Gradient{});
    for (const ParameterGradient& given : gradients) {
      const OwnedParameter& parameter = checked(given.parameter, "step");
      if (given.checked &&
          (given.dtype != parameter.dtype || given.elements != parameter.elements)) {
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
    options.max_norm = options_.max_norm;
    options.guard = options_.guard;
    const StepReport report = plan_->update(gradients_, alphas, steps_, options);
    if (report.skipped) ++skipped_steps_;
    return report;
  }

  void set_numbers(GroupId group, const Method& changed) {
    Method& method = groups_[group.index];
    if (numbers_of(changed, method) != method) {
      throw fail("set_numbers", "expected numbers alone but received another part of a method");
    }
    validate(changed);
    if (plan_) plan_->set_numbers(group.index, changed);
    method = changed;
  }

  const Method& checked(GroupId group, std::string_view where) const {
    if (group.index >= groups_.size()) {
      throw fail(where, "expected group < {} but received {}", groups_.size(), group.index);
    }
    return groups_[group.index];
  }
  const OwnedParameter& checked(ParameterId id, std::string_view where) const {
    if (id.index >= parameters_.size()) {
      throw fail(where, "expected parameter < {} but received {}", parameters_.size(), id.index);
    }
    return parameters_[id.index];
  }

  ParameterId find(std::string_view name) const {
    const auto found = by_name_.find(std::string(name));
    if (found != by_name_.end()) return {found->second};
    std::vector<std::string_view> known;
    known.reserve(parameters_.size());
    for (const OwnedParameter& parameter : parameters_) known.emplace_back(parameter.name);
    throw fail("find", "expected a known parameter but received '{}': did you mean '{}'?", name,
               nearest(name, known));
  }

  ParameterState state(ParameterId id) const {
    const OwnedParameter& parameter = checked(id, "state");
    const Parameter view = view_of(parameter, 0);
    return {view.m, view.v, view.u, steps_[id.index]};
  }

  void set_steps(ParameterId id, std::uint64_t steps) {
    checked(id, "set_steps");
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
    if (steps > kMost) throw fail("set_steps", "expected steps < 2^63 but received {}", steps);
    steps_[id.index] = steps;
  }

  std::uint64_t state_bytes() const {
    std::uint64_t bytes = 0;
    for (const OwnedParameter& parameter : parameters_) {
      for (const StateBuffer* state : {&parameter.m, &parameter.v, &parameter.u}) {
        bytes += state->bytes().size();
      }
    }
    return bytes;
  }

  void save(const std::string& path) const;
  void load(const std::string& path, const LoadOptions& options);
  void convert(const std::string& path);

  std::vector<Method> groups_;
  std::vector<OwnedParameter> parameters_;
  OptimizerOptions options_;
  std::uint64_t skipped_steps_ = 0;
  std::vector<double> alphas_;

 private:
  PlanOptions plan_options() const { return {options_.executor, options_.target}; }

  static Parameter view_of(const OwnedParameter& parameter, std::size_t group) {
    Parameter view;
    view.x = {parameter.x, parameter.dtype, parameter.shape, parameter.strides};
    view.m = {parameter.m.data(), parameter.dtype, parameter.shape, {}};
    view.u = {parameter.u.data(), parameter.dtype, parameter.shape, {}};
    view.v = {parameter.v.data(), parameter.dtype, parameter.blocks, {}};
    view.group = group;
    return view;
  }

  void make_plan() {
    std::vector<Parameter> views;
    views.reserve(parameters_.size());
    for (const OwnedParameter& parameter : parameters_) {
      views.push_back(view_of(parameter, parameter.group));
    }
    plan_.emplace(groups_, views, plan_options());
    gradients_.resize(parameters_.size());
  }

  StateFileHeader header() const {
    StateFileHeader header;
    header.groups = groups_;
    header.skipped_steps = skipped_steps_;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const OwnedParameter& p = parameters_[i];
      header.parameters.push_back({p.name, p.shape, p.dtype, p.group, steps_[i]});
    }
    return header;
  }

  /// The file's entries in the order of our parameters; names, shapes and dtypes agree.
  std::vector<const StateFileHeader::Entry*> matched(const StateFileHeader& header,
                                                     const std::string& path) const;
  Incoming read(const safetensors::File& file, std::string_view state, const OwnedParameter& p,
                const StateBuffer& to, std::span<const std::int64_t> shape) const;

  std::optional<Plan> plan_;
  std::vector<Gradient> gradients_;
  std::vector<std::uint64_t> steps_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

void Optimizer::Impl::save(const std::string& path) const {
  std::vector<safetensors::TensorData> tensors;
  for (const OwnedParameter& p : parameters_) {
    const auto add = [&](std::string_view state, const StateBuffer& buffer,
                         std::span<const std::int64_t> shape, bool kept) {
      if (!kept) return;
      tensors.push_back({state_name(state, p.name),
                         std::string(file_dtype(p.dtype)),
                         {shape.begin(), shape.end()},
                         buffer.bytes()});
    };
    const StateKinds kinds = state_kinds(groups_[p.group]);
    add("m", p.m, p.shape, kinds.m);
    add("v", p.v, p.blocks, kinds.v);
    add("u", p.u, p.shape, kinds.u);
  }
  safetensors::write(path, tensors, to_metadata(header()));
}

std::vector<const StateFileHeader::Entry*> Optimizer::Impl::matched(const StateFileHeader& header,
                                                                    const std::string& path) const {
  std::vector<const StateFileHeader::Entry*> entries(parameters_.size(), nullptr);
  for (const StateFileHeader::Entry& entry : header.parameters) {
    const auto found = by_name_.find(entry.name);
    if (found == by_name_.end()) {
      throw fail(ErrorCode::mismatch, "load",
                 "expected the optimizer's parameters but received '{}' in '{}', which it does not "
                 "have",
                 entry.name, path);
    }
    const OwnedParameter& p = parameters_[found->second];
    if (entry.shape != p.shape) {
      throw fail(ErrorCode::mismatch, "load", "expected shape [{}] for '{}' but received [{}]",
                 fmt::join(p.shape, ", "), p.name, fmt::join(entry.shape, ", "));
    }
    if (entry.dtype != p.dtype) {
      throw fail(ErrorCode::mismatch, "load", "expected dtype {} for '{}' but received {}",
                 bcos::name(p.dtype), p.name, bcos::name(entry.dtype));
    }
    entries[found->second] = &entry;
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i] == nullptr) {
      throw fail(ErrorCode::mismatch, "load", "expected state for '{}' but '{}' has none",
                 parameters_[i].name, path);
    }
  }
  return entries;
}

Incoming Optimizer::Impl::read(const safetensors::File& file, std::string_view state,
                               const OwnedParameter& p, const StateBuffer& to,
                               std::span<const std::int64_t> shape) const {
  const std::string name = state_name(state, p.name);
  const safetensors::TensorInfo* info = file.find(name);
  if (info == nullptr || info->dtype != file_dtype(p.dtype) ||
      !std::ranges::equal(info->shape, shape, [](std::uint64_t a, std::int64_t b) {
        return a == static_cast<std::uint64_t>(b);
      })) {
    throw fail(ErrorCode::mismatch, "load", "expected tensor '{}' as {} of shape [{}] in '{}'",
               name, file_dtype(p.dtype), fmt::join(shape, ", "), file.path());
  }
  Incoming incoming{to.bytes(), std::vector<std::byte>(to.bytes().size())};
  file.read(*info, incoming.bytes);
  return incoming;
}

void Optimizer::Impl::load(const std::string& path, const LoadOptions& options) {
  const safetensors::File file = safetensors::File::open(path);
  const StateFileHeader header = read_state_header(file);
  const auto entries = matched(header, path);
  std::vector<Incoming> states;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const OwnedParameter& p = parameters_[i];
    const Method& ours = groups_[p.group];
    const Method& theirs = header.groups[entries[i]->group];
    if ((options.other_numbers ? numbers_of(theirs, ours) : theirs) != ours) {
      throw fail(ErrorCode::mismatch, "load",
                 "expected the state of {} for '{}' but received that of {}: {}",
                 method_label(ours), p.name, method_label(theirs),
                 numbers_of(theirs, ours) == ours
                     ? "only numbers differ, other_numbers accepts that"
                     : "convert() keeps the momentum of another method");
    }
    const StateKinds kinds = state_kinds(ours);
    if (kinds.m) states.push_back(read(file, "m", p, p.m, p.shape));
    if (kinds.v) states.push_back(read(file, "v", p, p.v, p.blocks));
    if (kinds.u) states.push_back(read(file, "u", p, p.u, p.shape));
  }
  for (const Incoming& state : states) std::ranges::copy(state.bytes, state.to.begin());
  for (std::size_t i = 0; i < parameters_.size(); ++i) steps_[i] = entries[i]->steps;
  skipped_steps_ = header.skipped_steps;
}

void Optimizer::Impl::convert(const std::string& path) {
  for (const Method& method : groups_) {
    const StateKinds kinds = state_kinds(method);
    if (!kinds.m || kinds.v || kinds.u) {
      throw fail("convert", "expected a method that keeps momentum alone but received {}",
                 method_label(method));
    }
  }
  const safetensors::File file = safetensors::File::open(path);
  const StateFileHeader header = read_state_header(file);
  const auto entries = matched(header, path);
  std::vector<Incoming> states;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const OwnedParameter& p = parameters_[i];
    const Method& theirs = header.groups[entries[i]->group];
    if (!state_kinds(theirs).m) {
      throw fail(ErrorCode::mismatch, "convert",
                 "expected a file with momentum for '{}' but received that of {}", p.name,
                 method_label(theirs));
    }
    states.push_back(read(file, "m", p, p.m, p.shape));
  }
  for (const Incoming& state : states) std::ranges::copy(state.bytes, state.to.begin());
  for (std::size_t i = 0; i < parameters_.size(); ++i) steps_[i] = entries[i]->steps;
  skipped_steps_ = header.skipped_steps;
}

Optimizer::Optimizer(const Method& method, const MethodOptions& options,
                     const OptimizerOptions& optimizer_options)
    : impl_(std::make_unique<Impl>(optimizer_options)) {
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

StepReport Optimizer::step(double alpha, std::initializer_list<ParameterGradient> gradients) {
  return step(alpha, std::span(gradients.begin(), gradients.size()));
}

StepReport Optimizer::step(double alpha, std::span<const ParameterGradient> gradients) {
  impl_->alphas_.assign(impl_->groups_.size(), alpha);
  return impl_->step(impl_->alphas_, gradients);
}

StepReport Optimizer::step(std::span<const double> alphas,
                           std::span<const ParameterGradient> gradients) {
  return impl_->step(alphas, gradients);
}

void Optimizer::set_numbers(GroupId group, const MethodOptions& options) {
  impl_->set_numbers(group, with(impl_->checked(group, "set_numbers"), options));
}
void Optimizer::replace_numbers(GroupId group, const Method& method) {
  impl_->checked(group, "set_numbers");
  impl_->set_numbers(group, method);
}
void Optimizer::set_max_norm(std::optional<double> max_norm) {
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
