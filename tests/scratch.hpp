#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

namespace bcos::testing {

/// A place for a test's files that no other process uses, and that is not there yet.
inline std::filesystem::path scratch_path(const std::string& what) {
  return std::filesystem::temp_directory_path() /
         ("bcos-" + what + "-" + std::to_string(::getpid()));
}

}  // namespace bcos::testing
