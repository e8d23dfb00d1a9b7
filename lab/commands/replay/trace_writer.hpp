#pragma once

#include <string>

#include "lab/trace/trace.hpp"

namespace bcos::lab::commands {

/// A trace file as text: one line a key and one line a case, numbers in full precision.
std::string trace_file_text(const trace::Json& file);

/// The file with the traces that the engine gives. Throws Error naming the case that fails or gives
/// numbers JSON cannot hold.
trace::Json replayed(trace::Json file, const trace::ReplayOptions& options);

}  // namespace bcos::lab::commands
