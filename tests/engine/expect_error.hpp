#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "bcos/error.hpp"

namespace bcos::testing {

/// The text of the Error that `action` throws; a failure if it throws none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "expected an Error but nothing was thrown";
  return {};
}

}  // namespace bcos::testing
