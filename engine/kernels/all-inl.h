// Every kernel, in terms of the Pack of the namespace it is included in.
#include "engine/kernels/block-inl.h"
#include "engine/kernels/coordinate-inl.h"
#include "engine/kernels/formulas-inl.h"
#include "engine/kernels/limit-inl.h"
#include "engine/kernels/loop-inl.h"
#include "engine/kernels/table-inl.h"
