#include "engine/kernels/tuning.hpp"

namespace bcos::kernels {
namespace {

/// Zen: near memory, and slowed down by what comes too early.
[[maybe_unused]] constexpr Tuning kAmd{.ahead = 512, .rows_ahead = 256, .predicts_ways = true};
/// Servers of Intel's: memory is far.
constexpr Tuning kOthers{.ahead = 1536, .rows_ahead = 1024, .predicts_ways = false};

}  // namespace

const Tuning& tuning() {
#if defined(__x86_64__)
  static const bool amd = __builtin_cpu_is("amd") != 0;
  if (amd) return kAmd;
#endif
  return kOthers;
}

}  // namespace bcos::kernels
