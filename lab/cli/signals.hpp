#pragma once

namespace bcos::lab::cli {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP is only noted, so that work can be saved; a
/// second one ends the process at once. One at a time.
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// The signal that came, 0 if none.
  int received() const;
};

}  // namespace bcos::lab::cli
