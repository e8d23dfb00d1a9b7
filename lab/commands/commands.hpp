#pragma once

#include <array>

#include "lab/cli/program.hpp"

/// One file a command; each adds itself, its options and its examples to the program.
namespace bcos::lab {

void add_train(Program& program);
void add_compare(Program& program);
void add_sample(Program& program);
void add_report(Program& program);
void add_data(Program& program);
void add_theory(Program& program);
void add_check(Program& program);
void add_replay(Program& program);
void add_bench(Program& program);
void add_schedule(Program& program);
void add_inspect(Program& program);
void add_methods(Program& program);
void add_targets(Program& program);

/// In the order of the help.
inline constexpr std::array kCommands = {
    add_train,  add_compare, add_sample,   add_report,  add_data,    add_theory, add_check,
    add_replay, add_bench,   add_schedule, add_inspect, add_methods, add_targets};

}  // namespace bcos::lab
