// Every kernel, on Highway's vectors of the target that includes this file. Later files use earlier
// ones.
// clang-format off
#include "engine/kernels/pack-inl.h"
#include "engine/kernels/formulas-inl.h"
#include "engine/kernels/walk-inl.h"
#include "engine/kernels/inputs-inl.h"
#include "engine/kernels/coordinate-inl.h"
#include "engine/kernels/block-inl.h"
#include "engine/kernels/table-inl.h"
// clang-format on
