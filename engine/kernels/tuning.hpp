#pragma once

#include <cstddef>

namespace bcos::kernels {

/// What is faster on one processor than on another; results do not depend on it.
struct Tuning {
  std::size_t ahead;       ///< bytes between what a step works on and what it asks memory for
  std::size_t rows_ahead;  ///< the same in rows, which are read by more streams
  bool predicts_ways;      ///< addresses that agree in their low 28 bits evict each other
};

/// Of the processor at hand.
const Tuning& tuning();

}  // namespace bcos::kernels
