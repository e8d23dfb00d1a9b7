// Every kernel, in terms of the Pack of the namespace it is included in. Later files use earlier
// ones.
// clang-format off
#include "engine/kernels/formulas-inl.h"
#include "engine/kernels/loop-inl.h"
#include "engine/kernels/coordinate-inl.h"
#include "engine/kernels/block-inl.h"
#include "engine/kernels/sweep-inl.h"
#include "engine/kernels/limit-inl.h"
#include "engine/kernels/table-inl.h"
// clang-format on
