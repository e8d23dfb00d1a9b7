#pragma once

#include "engine/kernels/kernels.hpp"

namespace bcos::kernels {

const Kernels<float>& scalar_f32();
const Kernels<double>& scalar_f64();

/// Null where this build has no such target.
const Kernels<float>* simd_f32(Target target);
const Kernels<double>* simd_f64(Target target);

}  // namespace bcos::kernels
