// The body of simd_f32.cc and simd_f64.cc: Highway includes them once a target, in a namespace and
// with the compiler flags of that target. Highway is used through its headers alone.

// Those that are dispatched below, and what Highway falls back to.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS \
  (~(HWY_SSE4 | HWY_AVX2 | HWY_AVX3 | HWY_NEON | HWY_EMU128 | HWY_SCALAR))
#endif

#include <hwy/foreach_target.h>
// foreach_target comes before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/kernels/kernels.hpp"
#include "engine/kernels/targets.hpp"

#undef BCOS_INLINE
#define BCOS_INLINE HWY_INLINE

#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace bcos::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#include "engine/kernels/all-inl.h"

const Kernels<BCOS_SIMD_LANE>& table() {
  static constexpr Kernels<BCOS_SIMD_LANE> kernels = make_kernels<BCOS_SIMD_LANE>();
  return kernels;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace bcos::kernels
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace bcos::kernels {

template <>  // NOLINTNEXTLINE(misc-definitions-in-headers): each source includes this once
const Kernels<BCOS_SIMD_LANE>* simd_kernels(Target target) {
  switch (target) {
#if HWY_TARGETS & HWY_SSE4
    case Target::sse4:
      return &N_SSE4::table();
#endif
#if HWY_TARGETS & HWY_AVX2
    case Target::avx2:
      return &N_AVX2::table();
#endif
#if HWY_TARGETS & HWY_AVX3
    case Target::avx512:
      return &N_AVX3::table();
#endif
#if HWY_TARGETS & HWY_NEON
    case Target::neon:
      return &N_NEON::table();
#endif
    default:
      return nullptr;
  }
}

}  // namespace bcos::kernels
#endif
