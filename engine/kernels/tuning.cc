#include "engine/kernels/tuning.hpp"

namespace bcos::kernels {
namespace {

/// Zen: near memory, and slowed down by what comes too early.
[[maybe_unused]] constexpr Tuning kZen{.ahead = 512, .rows_ahead = 256, .predicts_ways = true};
/// Measured on Intel's servers, whose memory is far.
constexpr Tuning kOthers{.ahead = 1536, .rows_ahead = 1024, .predicts_ways = false};

const Tuning& found() {
#if defined(__x86_64__)
  if (__builtin_cpu_is("amd") != 0) return kZen;
#endif
  return kOthers;
}

const Tuning*& current() {
  static const Tuning* chosen = &found();
  return chosen;
}

}  // namespace

const Tuning& tuning() { return *current(); }

TunedAs::TunedAs(const Tuning& other) : before_(current()) { current() = &other; }
TunedAs::~TunedAs() { current() = before_; }

}  // namespace bcos::kernels
