// The kernels on one lane, without any vector instructions: what every other target is compared
// with, and what runs where no vector target does.
#define HWY_COMPILE_ONLY_SCALAR
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <utility>

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

template <class T>
const Kernels<T>& scalar_kernels() {
  static constexpr Kernels<T> table = HWY_NAMESPACE::make_kernels<T>();
  return table;
}
template const Kernels<float>& scalar_kernels();
template const Kernels<double>& scalar_kernels();

}  // namespace bcos::kernels
