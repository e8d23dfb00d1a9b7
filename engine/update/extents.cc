#include "engine/update/extents.hpp"

#include <algorithm>
#include <iterator>

#include "engine/error.hpp"

namespace bcos {
namespace {

bool share_an_element(const Region& a, const Region& b) {
  if (a.begin() >= b.end() || b.begin() >= a.end()) return false;
  if (a.strides.dense() && b.strides.dense()) return true;
  const std::ptrdiff_t apart =
      static_cast<const std::byte*>(b.data) - static_cast<const std::byte*>(a.data);
  const auto size = static_cast<std::ptrdiff_t>(a.size);
  // Elements of two sizes, or not on one grid, are not told apart.
  if (a.size != b.size || apart % size != 0) return true;
  return overlap(a.strides, b.strides, apart / size);
}

}  // namespace

/// The first node that ends behind `begin`.
Extents::Nodes::const_iterator Extents::first_behind(std::uintptr_t begin) const {
  auto node = nodes_.upper_bound(begin);
  if (node != nodes_.begin() && std::prev(node)->second.end > begin) --node;
  return node;
}

std::string_view Extents::find(const Region& region) const {
  for (auto node = first_behind(region.begin()); node != nodes_.end() && node->first < region.end();
       ++node) {
    for (const Member& member : node->second.members) {
      if (share_an_element({member.data, member.size, member.strides}, region)) return member.owner;
    }
  }
  return {};
}

void Extents::add(const Region& region, std::string_view owner) {
  if (region.strides.size() == 0) return;
  if (const std::string_view other = find(region); !other.empty()) {
    throw fail("plan",
               "expected memory of its own for {} but received memory that overlaps {}: is one of "
               "them listed twice?",
               owner, other);
  }
  Node node{region.end(), {{region.data, region.size, region.strides, owner}}};
  ++version_;
  std::uintptr_t begin = region.begin();
  for (auto other = first_behind(begin); other != nodes_.end() && other->first < node.end;) {
    begin = std::min(begin, other->first);
    node.end = std::max(node.end, other->second.end);
    std::ranges::copy(other->second.members, std::back_inserter(node.members));
    other = nodes_.erase(other);
  }
  nodes_.emplace(begin, std::move(node));
}

void Extents::remove(std::string_view owner) {
  ++version_;
  for (auto node = nodes_.begin(); node != nodes_.end();) {
    std::vector<Member>& members = node->second.members;
    std::erase_if(members, [&](const Member& m) { return m.owner.data() == owner.data(); });
    node = members.empty() ? nodes_.erase(node) : std::next(node);
  }
}

}  // namespace bcos
