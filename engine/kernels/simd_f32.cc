#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/kernels/simd_f32.cc"
#define BCOS_SIMD_LANE float
#include "engine/kernels/simd-inl.h"
