#pragma once

#include <c10/util/Exception.h>

#include "bcos/error.hpp"

namespace bcos::libtorch {

/// The result of `call`; the engine's errors become torch's.
template <class Call>
auto translated(const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    TORCH_CHECK(false, error.what());
  }
}

}  // namespace bcos::libtorch
