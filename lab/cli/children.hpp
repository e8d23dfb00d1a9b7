#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace bcos::lab::cli {

/// Called by the program at its start: if it is the Child of another, it is sent SIGTERM when that
/// one dies, however it dies. Ends the program if it has died already.
void end_with_parent();

/// A process of this same program, in a process group of its own: Ctrl-C reaches it only through
/// send(), once.
class Child {
 public:
  /// Starts it with these arguments. Throws Error(io).
  explicit Child(const std::vector<std::string>& arguments);
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

}  // namespace bcos::lab::cli
