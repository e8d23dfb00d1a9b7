#pragma once

#include <optional>

#include "engine/error.hpp"

namespace bcos {

/// What gradients may be clipped to; `function` is the one that was called with it.
inline void check_max_norm(std::optional<double> max_norm, const char* function) {
  if (max_norm && !(*max_norm > 0)) {
    throw fail(function, "expected max_norm > 0 but received {}", *max_norm);
  }
}

}  // namespace bcos
