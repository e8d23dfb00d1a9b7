#pragma once

#include "lab/cli/program.hpp"

/// The commands under `bcos theory`, one file each.
namespace bcos::lab::commands {

void add_theory_estimators(cli::Program& program);
void add_theory_radius(cli::Program& program);

}  // namespace bcos::lab::commands
