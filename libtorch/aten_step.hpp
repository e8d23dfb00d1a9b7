#pragma once

#include <ATen/ATen.h>

#include "bcos/step_numbers.hpp"

namespace bcos::libtorch {

/// One step of one parameter in ATen operations, on any device. m and v are undefined where the
/// method keeps none; all are changed in place, the gradient is not.
void aten_step(const Method& method, const StepNumbers& numbers, const at::Tensor& x,
               const at::Tensor& gradient, const at::Tensor& m, const at::Tensor& v);

}  // namespace bcos::libtorch
