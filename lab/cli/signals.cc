#include "lab/cli/signals.hpp"

#include <unistd.h>

#include <array>
#include <csignal>

#include "lab/cli/progress.hpp"

namespace bcos::lab::cli {
namespace {

volatile std::sig_atomic_t noted = 0;
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};
std::array<struct sigaction, kSignals.size()> before;

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
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    // What nohup ignores stays ignored.
    if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

SignalWatch::~SignalWatch() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before[i], nullptr);
}

int SignalWatch::received() const { return noted; }

}  // namespace bcos::lab::cli
