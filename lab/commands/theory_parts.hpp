#pragma once

#include "lab/cli/program.hpp"

/// The commands under `bcos theory`, one file each.
namespace bcos::lab {

void add_theory_estimators(Program& program);

}  // namespace bcos::lab
