#pragma once

#include <ATen/ATen.h>

#include "bcos/method.hpp"

namespace bcos::libtorch {

/// One step of one parameter in ATen operations, on any device. m and v are undefined where the
/// method keeps none; all are changed in place, the gradient is not.
void aten_step(const Method& method, double alpha, std::uint64_t t, double factor,
               const at::Tensor& x, const at::Tensor& gradient, const at::Tensor& m,
               const at::Tensor& v);

/// The norm of a gradient, in float64; infinite or NaN only if the gradient is.
double norm_of(const at::Tensor& gradient);

}  // namespace bcos::libtorch
