#include "lab/bench/machine.hpp"

#include <fmt/format.h>

#include <fstream>

#include "bcos/executor.hpp"
#include "bcos/target.hpp"

namespace bcos::lab::bench {
namespace {

/// The value of the first line of a /proc file that begins with `key`.
std::string value_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t value = line.find_first_not_of(" \t:", key.size());
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

}  // namespace

std::string machine_line() {
  std::string cpu = value_of("/proc/cpuinfo", "model name");
  if (cpu.empty()) cpu = "unknown CPU";
  return fmt::format("{}, {} threads, target {}, {}", cpu, default_threads(),
                     name(default_target()), compiler());
}

std::uint64_t available_memory() {
  const std::string kilobytes = value_of("/proc/meminfo", "MemAvailable");
  return kilobytes.empty() ? 0 : std::stoull(kilobytes) * 1024;
}

}  // namespace bcos::lab::bench
