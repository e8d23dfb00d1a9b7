#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "engine/update/strides.hpp"

namespace bcos {

/// Elements in memory: `size` bytes each, where `strides` says from `data` on.
struct Region {
  const void* data;
  std::size_t size;
  const Strides& strides;

  std::uintptr_t begin() const { return at(strides.lowest()); }
  std::uintptr_t end() const {
    return strides.size() == 0 ? begin() : at(strides.highest()) + size;
  }

 private:
  std::uintptr_t at(std::int64_t offset) const {
    return reinterpret_cast<std::uintptr_t>(data) + static_cast<std::uintptr_t>(offset) * size;
  }
};

/// Everything that the steps of a plan write, and whose it is. Views of one array that lie between
/// each other share a range of addresses but no element, and may both be here. An owner is known by
/// the address of its label, which outlives this.
class Extents {
 public:
  /// Throws if the region has an element that is here already.
  void add(const Region& region, std::string_view owner);
  /// Forgets everything of an owner.
  void remove(std::string_view owner);
  /// Who has an element of the region; empty if nobody has.
  std::string_view find(const Region& region) const;
  /// Another number whenever something was added or removed.
  std::uint64_t version() const { return version_; }

 private:
  struct Member {
    const void* data;
    std::size_t size;
    Strides strides;
    std::string_view owner;
  };
  /// Members whose ranges of addresses overlap.
  struct Node {
    std::uintptr_t end;
    std::vector<Member> members;
  };
  using Nodes = std::map<std::uintptr_t, Node>;

  Nodes::const_iterator first_behind(std::uintptr_t begin) const;

  std::uint64_t version_ = 1;
  Nodes nodes_;  ///< by where they begin; their ranges are disjoint
};

}  // namespace bcos
