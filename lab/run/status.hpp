#pragma once

#include <cstdint>
#include <string>

#include "lab/run/run_record.hpp"

namespace bcos::lab::run {

/// Never throws for what is in the folder. `record` is what could be read of it.
State state_of(const std::string& directory, RunRecord& record);
State state_of(const std::string& directory);

/// "finished", "interrupted at step 40 of 800", "damaged: ...".
std::string state_text(const State& state);

/// Whether a folder was put aside by --fresh: it counts for nothing.
bool is_put_aside(const std::string& directory);

/// The file that marks such a folder.
inline constexpr const char* kPutAside = "put-aside";

}  // namespace bcos::lab::run
