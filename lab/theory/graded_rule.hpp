#pragma once

#include "lab/theory/numerics.hpp"

namespace bcos::lab::theory {

/// Nodes and weights for the integral of f over [least, most]. Panels get smaller towards the
/// points of `around`, so that f may jump there, or bend on a scale that is not known; they are
/// halved that many times.
Quadrature graded_rule(double least, double most, ConstSpan around, int halvings = 40);

}  // namespace bcos::lab::theory
