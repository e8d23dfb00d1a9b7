#include <unordered_map>

#include "bcos/libtorch.h"
#include "bcos/optimizer.hpp"
#include "libtorch/errors.hpp"
#include "libtorch/optimizer_impl.hpp"
#include "libtorch/tensors.hpp"

namespace bcos::libtorch {
namespace {

using torch::Tensor;

struct Mirrored {
  Tensor p;
  Tensor place;  ///< what the engine takes for the parameter
  ParameterId id;
  Method method;
};

/// An optimizer of the engine with the same names, shapes and methods.
struct Mirror {
  std::optional<bcos::Optimizer> optimizer;
  std::vector<Mirrored> parameters;
};

Mirror mirror_of(const std::vector<torch::optim::OptimizerParamGroup>& groups,
                 const BCOS::NamedParameters& names) {
  std::unordered_map<const void*, std::string> name_of;
  for (const auto& item : names) {
    name_of.emplace(item.value().unsafeGetTensorImpl(), item.key());
  }
  Mirror mirror;
  for (const auto& group : groups) {
    const Method method = static_cast<const BCOSOptions&>(group.options()).method();
    GroupId id;
    if (!mirror.optimizer) {
      mirror.optimizer.emplace(method);
    } else {
      id = mirror.optimizer->add_group(method);
    }
    for (const Tensor& p : group.params()) {
      const auto found = name_of.find(p.unsafeGetTensorImpl());
      TORCH_CHECK(found != name_of.end(), "a parameter of shape ", p.sizes(),
                  " has no name: give the named parameters of the whole model");
      TORCH_CHECK(!p.is_complex(), "parameter ", found->second, ": files hold real tensors only");
      const Tensor place = at::zeros(p.sizes(), at::dtype(working_type(p.scalar_type())));
      mirror.parameters.push_back(
          {p, place, mirror.optimizer->add(found->second, view_of(place), id), method});
    }
  }
  TORCH_CHECK(mirror.optimizer, "the optimizer has no parameter groups");
  return mirror;
}

/// Engine memory as a tensor; undefined where there is none.
Tensor tensor_of(const TensorView& view) {
  if (view.data == nullptr) return {};
  return at::from_blob(view.data, {view.shape.data(), view.shape.size()},
                       at::dtype(view.dtype == DType::f32 ? at::kFloat : at::kDouble));
}

}  // namespace

void BCOS::save_file(const std::string& path, const NamedParameters& names) const {
  translated([&] {
    Mirror mirror = mirror_of(param_groups_, names);
    for (const Mirrored& entry : mirror.parameters) {
      const auto found = state_.find(entry.p.unsafeGetTensorImpl());
      if (found == state_.end()) continue;
      const auto& state = static_cast<const BCOSParamState&>(*found->second);
      const ParameterState engine = mirror.optimizer->state(entry.id);
      if (state.m().defined()) tensor_of(engine.m).copy_(state.m());
      if (state.v().defined()) tensor_of(engine.v).copy_(state.v().reshape_as(tensor_of(engine.v)));
      mirror.optimizer->set_steps(entry.id, static_cast<std::uint64_t>(state.step()));
    }
    mirror.optimizer->save(path);
  });
}

void BCOS::load_file(const std::string& path, const NamedParameters& names) {
  translated([&] {
    Mirror mirror = mirror_of(param_groups_, names);
    mirror.optimizer->load(path, {.other_numbers = true});
    for (const Mirrored& entry : mirror.parameters) {
      BCOSParamState& state = impl_->state_of(entry.p, entry.method);
      const ParameterState engine = mirror.optimizer->state(entry.id);
      if (state.m().defined()) state.m().copy_(tensor_of(engine.m));
      if (state.v().defined()) state.v().copy_(tensor_of(engine.v).reshape_as(state.v()));
      state.step(static_cast<std::int64_t>(engine.steps));
    }
  });
  impl_->forget_plan();
}

}  // namespace bcos::libtorch
