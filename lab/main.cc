#include "lab/cli/program.hpp"
#include "lab/commands/commands.hpp"

int main(int argc, char** argv) {
  bcos::lab::Program program;
  for (const auto& add : bcos::lab::kCommands) add(program);
  return program.run(argc, argv);
}
