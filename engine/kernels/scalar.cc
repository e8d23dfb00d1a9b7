// The kernels in plain C++: what every other target is compared with, and what runs where no
// vector target does.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/kernels/float_format.hpp"
#include "engine/kernels/kernels.hpp"
#include "engine/kernels/targets.hpp"

#define BCOS_INLINE inline __attribute__((always_inline))

namespace bcos::kernels {
namespace scalar {
namespace {

// clang-format off: the kernels use the packs
#include "engine/kernels/pack_scalar-inl.h"
#include "engine/kernels/all-inl.h"
// clang-format on

}  // namespace
}  // namespace scalar

const Kernels<float>& scalar_f32() {
  static constexpr Kernels<float> table = scalar::make_kernels<float>();
  return table;
}
const Kernels<double>& scalar_f64() {
  static constexpr Kernels<double> table = scalar::make_kernels<double>();
  return table;
}

}  // namespace bcos::kernels
