#pragma once

#include "lab/theory/aimed.hpp"
#include "lab/theory/claim.hpp"

namespace bcos::lab::theory {

/// Part (c) of T8: rates on the quadratic while <e, phi> >= mu |e|^2 lasts.
void rates_without_decay(const Setup& setup, Findings& findings);

}  // namespace bcos::lab::theory
