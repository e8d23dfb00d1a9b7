#pragma once

#include <array>

#include "lab/cli/program.hpp"

/// One file a command; each adds itself, its options and its examples to the program.
namespace bcos::lab::commands {

void add_train(cli::Program& program);
void add_compare(cli::Program& program);
void add_sample(cli::Program& program);
void add_report(cli::Program& program);
void add_data(cli::Program& program);
void add_theory(cli::Program& program);
void add_check(cli::Program& program);
void add_replay(cli::Program& program);
void add_bench(cli::Program& program);
void add_schedule(cli::Program& program);
void add_inspect(cli::Program& program);
void add_methods(cli::Program& program);
void add_targets(cli::Program& program);

/// What a comparison notes of itself in its folder, for `bcos report`.
inline constexpr const char* kComparison = "compare.json";

/// In the order of the help.
inline constexpr std::array kCommands = {
    add_train,  add_compare, add_sample,   add_report,  add_data,    add_theory, add_check,
    add_replay, add_bench,   add_schedule, add_inspect, add_methods, add_targets};

}  // namespace bcos::lab::commands
