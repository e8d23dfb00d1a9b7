#pragma once

#include <cstdint>

#include "lab/theory/problem.hpp"

namespace bcos::lab::theory {

/// Where the states of a method stand when a step begins: m_{t-1}, one number a coordinate, and
/// v_{t-1}, one a block. What a method does not read may be left empty.
struct States {
  Vector m = {};
  Vector v = {};
  std::uint64_t taken = 1;  ///< steps so far, t; 0: the method starts afresh
};

}  // namespace bcos::lab::theory
