#pragma once

#include "bcos/method.hpp"

namespace bcos {

/// `structure` with the numbers of another method: all that may change between two steps.
inline Method with_numbers(Method structure, const Method& numbers) {
  structure.beta = numbers.beta;
  structure.beta_v = numbers.beta_v;
  structure.eps = numbers.eps;
  structure.eps_root = numbers.eps_root;
  structure.lambda = numbers.lambda;
  structure.c = numbers.c;
  return structure;
}

}  // namespace bcos
