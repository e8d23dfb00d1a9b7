#include <algorithm>

#include "bcos/executor.hpp"
#include "bcos/target.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/table.hpp"
#include "lab/cli/usage.hpp"
#include "lab/commands/commands.hpp"

namespace bcos::lab::commands {
namespace {

void run() {
  const Target chosen = cli::chosen_target({});
  const int threads = cli::as_usage(default_threads);
  const std::vector<Target> usable = available_targets();
  cli::Table table({{"compiled"}, {"usable here"}, {"default"}});
  for (const Target target : compiled_targets()) {
    const bool runs = std::ranges::find(usable, target) != usable.end();
    table.add({std::string(name(target)), runs ? "yes" : "no", target == chosen ? "default" : ""});
  }
  cli::write_out(table.text());
  cli::print("threads: {}\n", threads);
}

}  // namespace

void add_targets(cli::Program& program) {
  program.add("targets", "List the kernels of this build and those this CPU can run",
              {"bcos targets", "BCOS_TARGET=scalar BCOS_NUM_THREADS=1 bcos targets"}, run);
}

}  // namespace bcos::lab::commands
