#pragma once

#include <string>
#include <vector>

#include "bcos/executor.hpp"
#include "bcos/target.hpp"

namespace bcos::lab::commands {

/// One line a (method, layout, dtype): "bcosw_c row float32 9a8b7c6d", the CRC32C of the bits of x
/// and all states after some steps on fixed inputs. Every target, thread count and machine must
/// give the same lines.
std::vector<std::string> bits_lines(Target target, const Executor& executor = {});

}  // namespace bcos::lab::commands
