#pragma once

#include <cstdint>
#include <string>

namespace bcos::lab::bench {

/// "AMD EPYC, 2 threads, target avx2, clang 19.1.7": what a number depends on.
std::string machine_line();

/// Bytes that can be had without swapping.
std::uint64_t available_memory();

}  // namespace bcos::lab::bench
