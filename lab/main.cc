#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

#include "lab/cli/program.hpp"
#include "lab/commands/commands.hpp"

namespace {

/// torch's OpenMP spins while it waits, which stalls a machine that does anything else, and reads
/// how to wait before main(): so the program starts once more with that said.
void wait_passively(int argc, char** argv) {
  constexpr const char* kPolicy = "OMP_WAIT_POLICY";
  if (argc < 2 || std::getenv(kPolicy) != nullptr) return;
  for (const std::string_view command : {"train", "compare", "sample"}) {
    if (command != argv[1]) continue;
    setenv(kPolicy, "passive", 1);
    execv("/proc/self/exe", argv);
  }
}

}  // namespace

int main(int argc, char** argv) {
  // A file that grows too large is an error to report, not a reason to die.
  std::signal(SIGXFSZ, SIG_IGN);
  wait_passively(argc, argv);
  bcos::lab::Program program;
  for (const auto& add : bcos::lab::kCommands) add(program);
  return program.run(argc, argv);
}
