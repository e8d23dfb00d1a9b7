#include "engine/kernels/tuning.hpp"

namespace bcos::kernels {
namespace {

/// Zen: near memory, and slowed down by what comes too early.
[[maybe_unused]] constexpr Tuning kZen{.ahead = 384, .rows_ahead = 384, .predicts_ways = true};
/// Measured on Intel's servers, whose memory is far.
constexpr Tuning kOthers{.ahead = 1536, .rows_ahead = 1024, .predicts_ways = false};

const Tuning* found() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_is("amd") != 0) return &kZen;
#endif
  return &kOthers;
}

}  // namespace

constinit const Tuning* current_tuning = &kOthers;  // until the library is initialised

namespace {
[[maybe_unused]] const bool looked_up = (current_tuning = found(), true);
}

TunedAs::TunedAs(const Tuning& other) : before_(current_tuning) { current_tuning = &other; }
TunedAs::~TunedAs() { current_tuning = before_; }

}  // namespace bcos::kernels
