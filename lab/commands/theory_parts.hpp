#pragma once

#include "lab/cli/program.hpp"

/// The commands of `bcos theory` that have a file of their own.
namespace bcos::lab {

void add_theory_estimators(Program& program);
void add_theory_radius(Program& program);

}  // namespace bcos::lab
