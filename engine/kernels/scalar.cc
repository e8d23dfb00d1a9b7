// The kernels on one lane, without any vector instructions: what every other target is compared
// with, and what runs where no vector target does.
#define HWY_COMPILE_ONLY_SCALAR
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/kernels/float_format.hpp"
#include "engine/kernels/kernels.hpp"
#include "engine/kernels/targets.hpp"

#define BCOS_INLINE HWY_INLINE

namespace bcos::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
#include "engine/kernels/all-inl.h"

}  // namespace
}  // namespace HWY_NAMESPACE

const Kernels<float>& scalar_f32() {
  static constexpr Kernels<float> table = HWY_NAMESPACE::make_kernels<float>();
  return table;
}
const Kernels<double>& scalar_f64() {
  static constexpr Kernels<double> table = HWY_NAMESPACE::make_kernels<double>();
  return table;
}

}  // namespace bcos::kernels
