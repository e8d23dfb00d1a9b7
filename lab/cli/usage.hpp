#pragma once

#include <utility>

#include "engine/error.hpp"

namespace bcos::lab::cli {

/// The command line is wrong: exit code 2, where every other error gives 1.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ErrorCode::invalid_argument, message) {}
};

/// throw misuse("replay", "expected --threads in 1..1024 but received {}", n).
template <class... Args>
UsageError misuse(std::string_view command, fmt::format_string<Args...> format, Args&&... args) {
  return UsageError(fail(command, format, std::forward<Args>(args)...).what());
}

/// What `action` returns; errors of the engine in it are the user's, for they come from options.
/// Not so files that cannot be read.
template <class Action>
auto as_usage(Action action) {
  try {
    return action();
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::io) throw;
    throw UsageError(error.what());
  }
}

}  // namespace bcos::lab::cli
