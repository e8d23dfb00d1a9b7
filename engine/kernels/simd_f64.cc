#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/simd_f64.cc"
#define BCOS_SIMD_LANE double
#include "engine/kernels/simd-inl.h"
