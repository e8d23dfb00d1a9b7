#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

namespace bcos::testing {

inline constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// How many of these bytes are marked for huge pages, as the system lists it ("hg" among the flags
/// of a mapping).
inline std::size_t marked_huge(const void* memory, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  std::ifstream maps("/proc/self/smaps");
  std::size_t marked = 0;
  std::uintptr_t first = 0;
  std::uintptr_t last = 0;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t dash = line.find('-');
    if (dash != std::string::npos && line.find_first_not_of("0123456789abcdef") == dash) {
      first = std::stoull(line.substr(0, dash), nullptr, 16);
      last = std::stoull(line.substr(dash + 1), nullptr, 16);
    }
    if (line.starts_with("VmFlags:") && line.find(" hg") != std::string::npos) {
      const std::uintptr_t from = std::max(first, begin);
      const std::uintptr_t to = std::min(last, begin + bytes);
      if (from < to) marked += to - from;
    }
  }
  return marked;
}

/// Whether this system has huge pages and lists what they were asked for.
inline bool huge_pages_show() {
  const std::size_t bytes = 2 * kHugePage;
  void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return false;
  madvise(mapping, bytes, MADV_HUGEPAGE);
  const bool show = marked_huge(mapping, bytes) == bytes;
  munmap(mapping, bytes);
  return show;
}

}  // namespace bcos::testing
