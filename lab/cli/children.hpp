#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace bcos::lab {

/// A process of this same program.
class Child {
 public:
  /// Starts it with these arguments. Its standard output goes to `log` if one is given. Throws
  /// Error(io).
  explicit Child(const std::vector<std::string>& arguments, const std::string& log = "");
  /// Ends it if it still runs.
  ~Child();
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;

  /// Its exit code (128 + signal if it was killed) once it has ended.
  std::optional<int> ended();
  int wait();
  void send(int signal) const;

 private:
  pid_t pid_ = -1;
  std::optional<int> code_;
};

}  // namespace bcos::lab
