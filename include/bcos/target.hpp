#pragma once

#include <string_view>
#include <vector>

#include "bcos/export.hpp"

namespace bcos {

/// A set of kernels for one instruction set. All give the same bits.
enum class Target { scalar, sse4, avx2, avx512, neon };

BCOS_API std::string_view name(Target target);
/// Throws, with the list of those this CPU can run, if there is no such target here.
BCOS_API Target target_by_name(std::string_view name);

/// Targets in this build, and those of them this CPU can run, slowest first.
BCOS_API std::vector<Target> compiled_targets();
BCOS_API std::vector<Target> available_targets();

/// The one used unless another is asked for: the environment's BCOS_TARGET, else the fastest.
BCOS_API Target default_target();

}  // namespace bcos
