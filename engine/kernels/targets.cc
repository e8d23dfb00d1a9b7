#include "engine/kernels/targets.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "bcos/target.hpp"
#include "engine/error.hpp"

namespace bcos {
namespace {

struct Named {
  Target target;
  std::string_view name;
};
constexpr Named kAllTargets[] = {{Target::scalar, "scalar"},
                                 {Target::sse4, "sse4"},
                                 {Target::avx2, "avx2"},
                                 {Target::avx512, "avx512"},
                                 {Target::neon, "neon"}};

bool runs_here(Target target) {
#if defined(__x86_64__)
  switch (target) {
    case Target::scalar:
      return true;
    case Target::sse4:
      return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") &&
             __builtin_cpu_supports("aes");
    case Target::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    case Target::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    case Target::neon:
      return false;
  }
  return false;
#else
  return target == Target::scalar || target == Target::neon;
#endif
}

std::vector<std::string_view> available_names() {
  std::vector<std::string_view> names;
  for (const Target target : available_targets()) names.push_back(name(target));
  return names;
}

}  // namespace

std::string_view name(Target target) {
  for (const Named& one : kAllTargets) {
    if (one.target == target) return one.name;
  }
  return "unknown";
}

Target target_by_name(std::string_view wanted) {
  for (const Target target : available_targets()) {
    if (name(target) == wanted) return target;
  }
  throw fail("target", "expected one of {} on this CPU but received '{}'",
             fmt::join(available_names(), ", "), wanted);
}

std::vector<Target> compiled_targets() {
  std::vector<Target> targets;
  for (const Named& one : kAllTargets) {
    const bool compiled = kernels::simd_kernels<float>(one.target) != nullptr;
    if (compiled || one.target == Target::scalar) targets.push_back(one.target);
  }
  return targets;
}

std::vector<Target> available_targets() {
  std::vector<Target> targets = compiled_targets();
  std::erase_if(targets, [](Target target) { return !runs_here(target); });
  return targets;
}

Target default_target() {
  static const Target fastest = available_targets().back();
  const char* wanted = std::getenv("BCOS_TARGET");
  return wanted == nullptr || *wanted == '\0' ? fastest : target_by_name(wanted);
}

namespace kernels {

std::size_t prefetch_distance() {
#if defined(__x86_64__)
  // Zen's memory is near, and what comes too early slows it down; that of Intel's servers is far.
  if (__builtin_cpu_is("amd") != 0) return 384;
#endif
  return 1536;
}

template <class T>
const Kernels<T>& kernels_of(Target target) {
  const Kernels<T>* simd = simd_kernels<T>(target);
  return simd == nullptr ? scalar_kernels<T>() : *simd;
}
template const Kernels<float>& kernels_of(Target target);
template const Kernels<double>& kernels_of(Target target);

}  // namespace kernels
}  // namespace bcos
