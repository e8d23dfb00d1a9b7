#pragma once

#include "engine/kernels/kernels.hpp"

namespace bcos::kernels {

template <class T>
const Kernels<T>& scalar_kernels();

/// Null where this build has no such target.
template <class T>
const Kernels<T>* simd_kernels(Target target);
template <>
const Kernels<float>* simd_kernels(Target target);
template <>
const Kernels<double>* simd_kernels(Target target);

}  // namespace bcos::kernels
