#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "bcos/error.hpp"

namespace bcos {

/// throw fail("update", "expected alpha >= 0 but received {}", alpha): "[update] expected ...".
template <class... Args>
Error fail(ErrorCode code, std::string_view function, fmt::format_string<Args...> format,
           Args&&... args) {
  return {code, fmt::format("[{}] {}", function, fmt::format(format, std::forward<Args>(args)...))};
}

template <class... Args>
Error fail(std::string_view function, fmt::format_string<Args...> format, Args&&... args) {
  return fail(ErrorCode::invalid_argument, function, format, std::forward<Args>(args)...);
}

}  // namespace bcos
