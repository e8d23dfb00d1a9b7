#pragma once

#include <c10/util/Exception.h>

#include <string>

#include "engine/error.hpp"

namespace bcos::lab::loop {

/// What `action` returns. An error of torch becomes one of ours: its first line, no stack.
template <class Action>
auto with_our_errors(std::string_view function, Action action) {
  try {
    return action();
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    throw fail(ErrorCode::internal, function, "expected torch to go on but received: {}",
               text.substr(0, text.find('\n')));
  }
}

}  // namespace bcos::lab::loop
