#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "lab/cli/children.hpp"
#include "lab/cli/program.hpp"
#include "lab/commands/commands.hpp"

namespace {

/// What needs LibTorch runs in the program beside this one that is linked with it: it takes long to
/// load, and the other commands must not wait for it. Without that program this one goes on, and
/// its command says what is missing.
///
/// torch's OpenMP spins while it waits, which stalls a machine that does anything else, and reads
/// how to wait before main(): so that is said here.
void go_on_with_torch(int argc, char** argv) {
  namespace fs = std::filesystem;
  const std::string_view command = argc < 2 ? "" : argv[1];
  if (command != "train" && command != "sample") return;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error || self.filename() == "bcos-torch") return;
  setenv("OMP_WAIT_POLICY", "passive", 0);
  execv((self.parent_path() / "bcos-torch").c_str(), argv);
}

}  // namespace

int main(int argc, char** argv) {
  // A file that grows too large is an error to report, not a reason to die.
  std::signal(SIGXFSZ, SIG_IGN);
  // So is a reader that has gone: a run is saved first.
  std::signal(SIGPIPE, SIG_IGN);
  bcos::lab::cli::end_with_parent();
  go_on_with_torch(argc, argv);
  bcos::lab::cli::Program program;
  for (const auto& add : bcos::lab::commands::kCommands) add(program);
  return program.run(argc, argv);
}
