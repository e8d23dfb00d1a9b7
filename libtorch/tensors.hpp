#pragma once

#include <ATen/ATen.h>

#include "bcos/blocks.hpp"
#include "bcos/tensor.hpp"

/// Views of torch's tensors as plain real ones.
namespace bcos::libtorch {

/// 16-bit parameters are computed, and their state is kept, in float32.
inline at::ScalarType working_type(at::ScalarType type) {
  return type == at::kHalf || type == at::kBFloat16 ? at::kFloat : type;
}

/// Complex numbers as pairs.
inline at::Tensor as_real(const at::Tensor& tensor) {
  return tensor.is_complex() ? at::view_as_real(tensor) : tensor;
}

/// Whether the engine can step a parameter.
inline bool engine_takes(const at::Tensor& tensor) {
  return tensor.device().is_cpu() && tensor.layout() == at::kStrided &&
         (tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble) &&
         !tensor.is_neg();
}

inline Dims dims_of(const at::Tensor& tensor) {
  return {tensor.sizes().data(), tensor.sizes().size()};
}

inline DType dtype_of(at::ScalarType type) { return type == at::kFloat ? DType::f32 : DType::f64; }

inline TensorView view_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  return {tensor.data_ptr(), dtype_of(tensor.scalar_type()), dims_of(tensor),
          Dims(tensor.strides().data(), tensor.strides().size())};
}

}  // namespace bcos::libtorch
