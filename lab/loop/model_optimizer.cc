#include "lab/loop/model_optimizer.hpp"

#include "engine/error.hpp"
#include "libtorch/torch_executor.hpp"

namespace bcos::lab::loop {
namespace {

OptimizerOptions options_of(const run::Settings& settings, const Executor& executor) {
  OptimizerOptions options;
  if (settings.clip > 0) options.max_norm = settings.clip;
  options.guard = Guard::skip;
  options.executor = executor;
  return options;
}

TensorView view_of(const torch::Tensor& tensor, const std::string& name) {
  if (tensor.scalar_type() != torch::kFloat32 || !tensor.is_contiguous()) {
    throw fail("train", "expected dense float32 parameters but received '{}' in another form",
               name);
  }
  return {tensor.data_ptr(), DType::f32, {tensor.sizes().data(), tensor.sizes().size()}, {}};
}

/// What ViT adds to its patches is stored as matrices but is a vector for each place.
bool is_place(std::string_view name) { return name == "cls_token" || name == "pos_embed"; }

}  // namespace

ModelOptimizer::ModelOptimizer(const torch::nn::Module& model, const run::Settings& settings)
    : ModelOptimizer(model, settings, libtorch::torch_executor()) {}

ModelOptimizer::ModelOptimizer(const torch::nn::Module& model, const run::Settings& settings,
                               const Executor& executor)
    : optimizer_(run::method_of(settings), {}, options_of(settings, executor)) {
  const Method& method = optimizer_.method();
  const bool decays = method.decay != Decay::none && method.lambda > 0;
  GroupId undecayed{};
  if (decays && !settings.decay_all) {
    undecayed = optimizer_.add_group(with(method, {.lambda = 0.0}));
  }
  for (const auto& item : model.named_parameters()) {
    const torch::Tensor& p = item.value();
    const bool decayed = settings.decay_all || (p.dim() >= 2 && !is_place(item.key()));
    const GroupId group = decayed ? GroupId{} : undecayed;
    if (decays && decayed) ++decayed_;
    entries_.push_back({p, optimizer_.add(item.key(), view_of(p, item.key()), group), group});
  }
  gradients_.reserve(entries_.size());
}

StepReport ModelOptimizer::step(double lr) {
  gradients_.clear();
  held_.clear();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    torch::Tensor gradient = entry.parameter.grad();
    if (!gradient.defined()) continue;
    if (!gradient.is_contiguous()) {
      gradient = gradient.contiguous();
      held_.push_back(gradient);
    }
    const Tap tap = taps_.empty() ? Tap{} : taps_[i];
    gradients_.emplace_back(entry.id, Gradient{.data = gradient.const_data_ptr(), .tap = tap});
  }
  return optimizer_.step(lr, gradients_);
}

std::vector<diagnosis::DiagnosedTensor> ModelOptimizer::tensors() const {
  std::vector<diagnosis::DiagnosedTensor> list;
  for (const Entry& entry : entries_) {
    const torch::Tensor& p = entry.parameter;
    const std::string name(optimizer_.name(entry.id));
    list.push_back({name, diagnosis::tensor_group(name, static_cast<std::size_t>(p.dim())),
                    std::span(p.const_data_ptr<float>(), static_cast<std::size_t>(p.numel())),
                    optimizer_.method(entry.group)});
  }
  return list;
}

}  // namespace bcos::lab::loop
