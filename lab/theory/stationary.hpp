#pragma once

#include "lab/theory/one_step.hpp"

namespace bcos::lab::theory {

/// d / sqrt(v) of a method at a fixed x in the long run, where g is normal with this mean and
/// variance 1, eps = 0: its mean and mean square, computed and not sampled.
ExpectedStep stationary_step(const Method& method, double mean);

}  // namespace bcos::lab::theory
