#include "lab/cli/signals.hpp"

#include <unistd.h>

#include <csignal>

#include "lab/cli/progress.hpp"

namespace bcos::lab {
namespace {

volatile std::sig_atomic_t noted = 0;
struct sigaction old_interrupt;
struct sigaction old_terminate;

void note(int signal) {
  if (noted != 0) {
    restore_cursor();
    _exit(128 + signal);
  }
  noted = signal;
}

}  // namespace

SignalWatch::SignalWatch() {
  noted = 0;
  struct sigaction action{};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &old_interrupt);
  sigaction(SIGTERM, &action, &old_terminate);
}

SignalWatch::~SignalWatch() {
  sigaction(SIGINT, &old_interrupt, nullptr);
  sigaction(SIGTERM, &old_terminate, nullptr);
}

int SignalWatch::received() const { return noted; }

}  // namespace bcos::lab
