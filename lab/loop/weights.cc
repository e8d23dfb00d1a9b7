#include "lab/loop/weights.hpp"

#include <fmt/ranges.h>

#include <set>

#include "bcos/safetensors.hpp"
#include "engine/error.hpp"

namespace bcos::lab::loop {
namespace {

struct Named {
  std::string name;
  torch::Tensor tensor;
};

std::vector<Named> tensors_of(const torch::nn::Module& model) {
  std::vector<Named> list;
  for (const auto& item : model.named_parameters()) list.push_back({item.key(), item.value()});
  for (const auto& item : model.named_buffers()) list.push_back({item.key(), item.value()});
  return list;
}

std::string dtype_of(const Named& named) {
  const auto type = named.tensor.scalar_type();
  if (type == torch::kFloat32) return "F32";
  if (type == torch::kFloat64) return "F64";
  if (type == torch::kInt64) return "I64";
  throw fail("save_weights", "expected float or int64 tensors but received '{}' of type {}",
             named.name, c10::toString(type));
}

std::vector<std::uint64_t> shape_of(const torch::Tensor& tensor) {
  return {tensor.sizes().begin(), tensor.sizes().end()};
}

}  // namespace

void save_weights(const torch::nn::Module& model, const std::string& path) {
  const torch::NoGradGuard no_grad;
  std::vector<safetensors::TensorData> list;
  std::vector<torch::Tensor> held;
  for (const Named& named : tensors_of(model)) {
    const torch::Tensor dense = named.tensor.detach().contiguous();
    if (dense.is_floating_point() && !torch::isfinite(dense).all().item<bool>()) {
      throw fail(ErrorCode::non_finite, "save_weights",
                 "expected finite weights but '{}' holds NaN or infinity: nothing was saved",
                 named.name);
    }
    held.push_back(dense);
    list.push_back({named.name,
                    dtype_of(named),
                    shape_of(dense),
                    {static_cast<const std::byte*>(dense.const_data_ptr()), dense.nbytes()}});
  }
  safetensors::write(path, list, {{"format", "pt"}});
}

void load_weights(torch::nn::Module& model, const std::string& path) {
  const torch::NoGradGuard no_grad;
  const safetensors::File file = safetensors::File::open(path);
  const std::vector<Named> wanted = tensors_of(model);
  std::set<std::string> known;
  std::vector<torch::Tensor> read;
  for (const Named& named : wanted) {
    known.insert(named.name);
    const safetensors::TensorInfo* info = file.find(named.name);
    if (info == nullptr) {
      throw fail(ErrorCode::mismatch, "load_weights", "expected '{}' in '{}' but it has none",
                 named.name, path);
    }
    if (info->shape != shape_of(named.tensor) || info->dtype != dtype_of(named)) {
      throw fail(ErrorCode::mismatch, "load_weights",
                 "expected '{}' as {} of shape [{}] but received {} of shape [{}] in '{}'",
                 named.name, dtype_of(named), fmt::join(shape_of(named.tensor), ", "), info->dtype,
                 fmt::join(info->shape, ", "), path);
    }
    read.push_back(torch::empty(named.tensor.sizes(), named.tensor.options().requires_grad(false)));
    file.read(*info, {static_cast<std::byte*>(read.back().data_ptr()), read.back().nbytes()});
  }
  for (const safetensors::TensorInfo& info : file.tensors()) {
    if (!known.contains(info.name)) {
      throw fail(ErrorCode::mismatch, "load_weights",
                 "expected the model's tensors but received '{}' in '{}', which it does not have",
                 info.name, path);
    }
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    torch::Tensor to = wanted[i].tensor;
    to.copy_(read[i]);
  }
}

}  // namespace bcos::lab::loop
