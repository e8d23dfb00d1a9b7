#include <c10/util/ScopeExit.h>
#include <torch/autograd.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "bcos/libtorch.h"
#include "bcos/memory.hpp"
#include "libtorch/errors.hpp"
#include "libtorch/optimizer_impl.hpp"
#include "libtorch/tensors.hpp"
#include "libtorch/torch_executor.hpp"

namespace bcos::libtorch {
namespace {

using torch::optim::OptimizerParamGroup;

/// More than anybody takes; beyond, counters would overflow.
constexpr std::int64_t kMostSteps = std::int64_t{1} << 62;

Guard guard_of(const std::string& name) {
  if (name == "propagate") return Guard::propagate;
  if (name == "skip") return Guard::skip;
  TORCH_CHECK(name == "raise", "Invalid guard: '", name, "', expected propagate, skip or raise");
  return Guard::raise;
}

/// The method that the options describe. Throws if one of them is wrong.
Method checked_method(const BCOSOptions& options) {
  TORCH_CHECK(options.lr() >= 0 && std::isfinite(options.lr()),
              "Invalid learning rate: ", options.lr());
  TORCH_CHECK(!options.max_norm() || *options.max_norm() > 0,
              "Invalid max_norm value: ", options.max_norm().value_or(0));
  guard_of(options.guard());
  return options.method();
}

const BCOSOptions& options_of(const OptimizerParamGroup& group) {
  const auto* options = dynamic_cast<const BCOSOptions*>(&group.options());
  TORCH_CHECK(options != nullptr,
              "Invalid parameter group: expected BCOSOptions, received those of another optimizer");
  return *options;
}

/// The model may have been converted since the state was made.
void check_type(const torch::Tensor& p, const torch::Tensor& state) {
  const auto wanted = working_type(p.scalar_type());
  TORCH_CHECK(
      !state.defined() || c10::toRealValueType(state.scalar_type()) == c10::toRealValueType(wanted),
      "Invalid parameter of shape ", p.sizes(), ": it is ", p.scalar_type(),
      " now but its state is ", state.scalar_type(),
      "; make a new optimizer after changing the model's type");
}

/// In the layout of p.
torch::Tensor zeros_for_state(const torch::Tensor& p) {
  const auto type = working_type(p.scalar_type());
  torch::Tensor state = torch::empty_like(p, p.options().dtype(type), at::MemoryFormat::Preserve);
  if (state.device().is_cpu()) prefer_huge_pages(state.data_ptr(), state.nbytes());
  return state.zero_();
}

}  // namespace

Executor executor() { return torch_executor(); }

void BCOS::Impl::check_state(const torch::Tensor& p, const Method& method) const {
  const auto found = owner_.state_.find(p.unsafeGetTensorImpl());
  if (found == owner_.state_.end()) return;
  const auto& loaded = static_cast<const BCOSParamState&>(*found->second);
  const auto fresh = fresh_state(p, method);
  const auto check = [&](const char* name, const torch::Tensor& now, const torch::Tensor& wanted) {
    TORCH_CHECK(now.defined() == wanted.defined() &&
                    (!now.defined() ||
                     (now.sizes() == wanted.sizes() && now.scalar_type() == wanted.scalar_type())),
                "loaded state of a parameter of shape ", p.sizes(), " does not fit: expected ",
                name, wanted.defined() ? " like it" : " to be absent", ", received ",
                now.defined() ? "one of another shape or type" : "none", "; nothing was changed");
  };
  check("m", loaded.m(), fresh->m());
  check("v", loaded.v(), fresh->v());
  TORCH_CHECK(loaded.step() >= 0 && loaded.step() <= kMostSteps,
              "loaded state of a parameter of shape ", p.sizes(),
              " does not fit: expected from 0 to 2^62 steps, received ", loaded.step(),
              "; nothing was changed");
}

std::unique_ptr<BCOSParamState> BCOS::Impl::fresh_state(const torch::Tensor& p,
                                                        const Method& method) {
  auto state = std::make_unique<BCOSParamState>();
  const StateKinds kinds = state_kinds(method);
  if (kinds.m) state->m(zeros_for_state(p));
  if (kinds.v && method.blocks.layout == Layout::coordinate) {
    state->v(zeros_for_state(p));
  } else if (kinds.v) {
    const at::Tensor real = as_real(p);
    const auto count = block_count(method.blocks, dims_of(real));
    state->v(torch::zeros({static_cast<std::int64_t>(count)},
                          p.options().dtype(working_type(real.scalar_type()))));
  }
  return state;
}

BCOSParamState& BCOS::Impl::state_of(const torch::Tensor& p, const Method& method) {
  auto& slot = owner_.state_[p.unsafeGetTensorImpl()];
  if (!slot) slot = fresh_state(p, method);
  return static_cast<BCOSParamState&>(*slot);
}

void BCOS::Impl::collect() {
  entries_.clear();
  stateless_ = 0;
  methods_.clear();
  alphas_.clear();
  const auto& groups = owner_.param_groups_;
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const BCOSOptions& options = options_of(groups[k]);
    methods_.push_back(checked_method(options));
    const BCOSOptions& first = options_of(groups[0]);
    TORCH_CHECK(options.guard() == first.guard() && options.max_norm() == first.max_norm(),
                "Invalid parameter group: guard and max_norm must be the same in all groups");
    alphas_.push_back(options.lr());
    for (const torch::Tensor& p : groups[k].params()) {
      torch::Tensor gradient = p.grad();
      if (gradient.defined()) {
        TORCH_CHECK(gradient.layout() == at::kStrided,
                    "BCOS does not support sparse gradients: make the layer dense");
        TORCH_CHECK(gradient.scalar_type() == p.scalar_type() && gradient.sizes() == p.sizes() &&
                        gradient.device() == p.device(),
                    "Invalid gradient: expected ", p.scalar_type(), " of shape ", p.sizes(), " on ",
                    p.device(), ", received ", gradient.scalar_type(), " of shape ",
                    gradient.sizes(), " on ", gradient.device());
        // Autograd leaves conjugation and negation of real parts to whoever reads.
        gradient = gradient.resolve_conj().resolve_neg();
      }
      // What never had a gradient has no state either.
      if (!gradient.defined() && owner_.state_.count(p.unsafeGetTensorImpl()) == 0) {
        ++stateless_;
        continue;
      }
      BCOSParamState& state = state_of(p, methods_[k]);
      check_type(p, state.m());
      check_type(p, state.v());
      // The plan takes one sign a call; mixed ones are rare.
      if (gradient.defined() && options.maximize() != first.maximize()) gradient = gradient.neg();
      entries_.push_back({p, gradient, &state, k, engine_ && engine_takes(p)});
    }
  }
}

void BCOS::Impl::step() {
  // Gradients are let go when the step is over, whichever way.
  const auto drop = c10::make_scope_exit([this] { entries_.clear(); });
  collect();
  if (owner_.param_groups_.empty()) return;
  translated([this] { follow_memory(); });
  gradients_.clear();
  steps_.clear();
  for (const Entry& entry : entries_) {
    gradients_.push_back(gradient_of(entry));
    steps_.push_back(static_cast<std::uint64_t>(entry.state->step()));
  }
  const BCOSOptions& first = options_of(owner_.param_groups_[0]);
  const StepOptions options{.grad_scale = first.maximize() ? -1.0 : 1.0,
                            .max_norm = first.max_norm(),
                            .guard = guard_of(first.guard())};
  report_ = translated([&] { return plan_->update(gradients_, alphas_, steps_, options); });
  report_.missing += stateless_;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    entry.state->step(static_cast<std::int64_t>(steps_[i]));
    const bool moved = entry.gradient.defined() && !report_.skipped;
    if (entry.in_engine && moved) entry.p.unsafeGetTensorImpl()->bump_version();
  }
}

Gradient BCOS::Impl::gradient_of(const Entry& entry) {
  if (!entry.gradient.defined()) return {};
  if (!entry.in_engine) return {.data = &entry.gradient};
  const TensorView view = view_of(entry.gradient);
  return {.data = view.data, .strides = entry.gradient.is_contiguous() ? Dims() : view.strides};
}

/// On torch's path tensors themselves are the memory.
Parameter BCOS::Impl::parameter_of(const Entry& entry) {
  const BCOSParamState& state = *entry.state;
  if (entry.in_engine) {
    return {view_of(entry.p), view_of(state.m()), view_of(state.v()), {}, entry.group, {}, 0};
  }
  const auto itself = [&](const torch::Tensor& t) {
    const DType dtype = dtype_of(c10::toRealValueType(working_type(entry.p.scalar_type())));
    return TensorView{t.defined() ? t.unsafeGetTensorImpl() : nullptr, dtype, dims_of(t)};
  };
  return {itself(entry.p), itself(state.m()), itself(state.v()), {}, entry.group, {}, 1};
}

/// Keeps the plan as long as parameters and states stay where they are.
void BCOS::Impl::follow_memory() {
  std::vector<Parameter> parameters;
  for (const Entry& entry : entries_) parameters.push_back(parameter_of(entry));
  bool fits =
      plan_ && plan_->parameters() == parameters.size() && plan_->groups() == methods_.size();
  for (std::size_t k = 0; fits && k < methods_.size(); ++k) {
    fits = same_but_numbers(plan_->method(k), methods_[k]);
  }
  for (std::size_t i = 0; fits && i < parameters.size(); ++i) {
    const Parameter &a = parameters[i], b = plan_->parameter(i);
    fits = a.x.data == b.x.data && a.m.data == b.m.data && a.v.data == b.v.data &&
           a.group == b.group && a.device == b.device && std::ranges::equal(a.x.shape, b.x.shape) &&
           std::ranges::equal(a.x.strides, b.x.strides);
  }
  if (!fits) {
    forget_plan();
    plan_.emplace(methods_, parameters, PlanOptions{.executor = executor(), .backends = {&aten_}});
  }
  for (std::size_t k = 0; k < methods_.size(); ++k) {
    if (plan_->method(k) != methods_[k]) plan_->set_numbers(k, methods_[k]);
  }
}

void BCOS::Impl::forget_plan() {
  plan_.reset();
  aten_ = {};
}

BCOS::BCOS(const std::vector<OptimizerParamGroup>& param_groups, BCOSOptions defaults)
    : Optimizer(std::vector<OptimizerParamGroup>{}, std::make_unique<BCOSOptions>(defaults)),
      impl_(std::make_unique<Impl>(*this)) {
  checked_method(defaults);
  for (const OptimizerParamGroup& group : param_groups) add_param_group(group);
}

BCOS::BCOS(std::vector<torch::Tensor> params, BCOSOptions defaults)
    : BCOS({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

BCOS::~BCOS() = default;

void BCOS::add_param_group(const OptimizerParamGroup& group) {
  std::unordered_set<const void*> known;
  for (const OptimizerParamGroup& other : param_groups_) {
    for (const torch::Tensor& p : other.params()) known.insert(p.unsafeGetTensorImpl());
  }
  for (const torch::Tensor& p : group.params()) {
    TORCH_CHECK(known.insert(p.unsafeGetTensorImpl()).second,
                "some parameters appear in more than one place of the parameter groups");
  }
  if (group.has_options()) checked_method(options_of(group));
  Optimizer::add_param_group(group);
  // torch keeps the options of its own optimizers alone.
  if (group.has_options()) param_groups_.back().set_options(group.options().clone());
}

torch::Tensor BCOS::step(LossClosure closure) {
  const torch::NoGradGuard no_grad;
  torch::Tensor loss;
  if (closure != nullptr) {
    const at::AutoGradMode grad(true);
    loss = closure();
  }
  impl_->step();
  return loss;
}

void BCOS::save(torch::serialize::OutputArchive& archive) const {
  torch::optim::serialize<BCOSParamState, BCOSOptions>(archive, *this);
}

void BCOS::load(torch::serialize::InputArchive& archive) {
  // Into a twin first, so that an archive that does not fit changes nothing.
  std::vector<OptimizerParamGroup> groups;
  for (const OptimizerParamGroup& group : param_groups_) {
    groups.emplace_back(group.params(), group.options().clone());
  }
  BCOS twin(groups);
  try {
    torch::optim::serialize<BCOSParamState, BCOSOptions>(archive, twin);
  } catch (const c10::Error& error) {
    TORCH_CHECK(false,
                "expected an archive of this optimizer's parameters, saved by BCOS; nothing ",
                "was changed (", error.what_without_backtrace(), ")");
  }
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const BCOSOptions& loaded = options_of(twin.param_groups_[k]);
    const Method method = loaded.method();
    const Method own = options_of(param_groups_[k]).method();
    TORCH_CHECK(method.direction == own.direction && method.estimator == own.estimator &&
                    method.blocks == own.blocks && method.start == own.start,
                "loaded state is of another method: group ", k, " has mode '", loaded.mode(),
                "', expected '", options_of(param_groups_[k]).mode(), "'; nothing was changed");
    for (const torch::Tensor& p : groups[k].params()) twin.impl_->check_state(p, method);
  }
  state_ = std::move(twin.state_);
  for (std::size_t k = 0; k < groups.size(); ++k) {
    param_groups_[k].set_options(twin.param_groups_[k].options().clone());
  }
  impl_->forget_plan();
}

const StepReport& BCOS::last_report() const { return impl_->report(); }
void BCOS::use_engine(bool yes) { impl_->use_engine(yes); }

}  // namespace bcos::libtorch
