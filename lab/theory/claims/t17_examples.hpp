#pragma once

#include "lab/theory/claim.hpp"

namespace bcos::lab::theory {

/// Parts of T17: the polynomial and the logarithm aim and are not convex, the skewed quadratic is
/// convex and does not aim.
void polynomial_example(const Setup& setup, Findings& findings);
void logarithm_example(const Setup& setup, Findings& findings);
void skewed_example(const Setup& setup, Findings& findings);

}  // namespace bcos::lab::theory
