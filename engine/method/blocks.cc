#include "engine/method/blocks.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "bcos/tensor.hpp"
#include "engine/error.hpp"
#include "engine/suggestion.hpp"

namespace bcos {
namespace {

struct NamedLayout {
  std::string_view name;
  Layout layout;
};

constexpr std::array<NamedLayout, 4> kPlainLayouts = {{{"coordinate", Layout::coordinate},
                                                       {"tensor", Layout::tensor},
                                                       {"row", Layout::row},
                                                       {"column", Layout::column}}};
constexpr std::string_view kHeads = "heads:";

std::optional<std::uint32_t> heads_from(std::string_view digits) {
  std::uint32_t heads = 0;
  const char* begin = digits.data();
  const char* end = begin + digits.size();
  const auto [rest, error] = std::from_chars(begin, end, heads);
  if (error != std::errc() || rest != end || heads == 0) return std::nullopt;
  return heads;
}

std::uint64_t heads_count(std::uint32_t heads, std::span<const std::int64_t> shape) {
  const std::uint64_t rows = shape.empty() ? 1 : static_cast<std::uint64_t>(shape.front());
  if (rows % heads != 0) {
    throw fail("block_count", "expected heads that divide the first dimension, {}, but received {}",
               rows, heads);
  }
  return heads;
}

}  // namespace

void check_partition(std::string_view function, const IndexLists& lists, std::uint64_t count) {
  std::uint64_t named = 0;
  for (std::size_t k = 0; k < lists.size(); ++k) {
    if (lists[k].empty()) {
      throw fail(function, "expected non-empty index lists but received an empty one at {}", k);
    }
    for (const std::uint64_t index : lists[k]) {
      if (index >= count) {
        throw fail(function, "expected indices in [0, {}) but received {} in list {}", count, index,
                   k);
      }
    }
    named += lists[k].size();
  }
  // Fewer than `count` indices cannot cover it; knowing the first gap needs no more than `named`.
  std::vector<bool> seen(std::min(named + 1, count), false);
  for (const auto& list : lists) {
    for (const std::uint64_t index : list) {
      if (index >= seen.size()) continue;
      if (seen[index]) {
        throw fail(function, "expected every index in one list but received {} twice", index);
      }
      seen[index] = true;
    }
  }
  for (std::size_t index = 0; index < seen.size(); ++index) {
    if (!seen[index]) {
      throw fail(function, "expected every index of [0, {}) in a list but {} is missing", count,
                 index);
    }
  }
}

void check_blocks(std::string_view function, const Blocks& blocks) {
  if (blocks.layout < Layout::coordinate || blocks.layout > Layout::lists) {
    throw fail(function, "expected a Layout but received the number {}",
               static_cast<int>(blocks.layout));
  }
  if (blocks.layout == Layout::heads ? blocks.heads == 0 : blocks.heads != 0) {
    throw fail(function, "expected heads {} but received {}",
               blocks.layout == Layout::heads ? ">= 1" : "= 0 for a layout without heads",
               blocks.heads);
  }
  if (blocks.layout != Layout::lists) {
    if (!blocks.lists.empty()) {
      throw fail(function, "expected no index lists for layout {} but received {}",
                 blocks_name(blocks), blocks.lists.size());
    }
    return;
  }
  std::uint64_t named = 0;
  for (const auto& list : blocks.lists) named += list.size();
  check_partition(function, blocks.lists, named);
}

std::uint64_t block_count(const Blocks& blocks, std::span<const std::int64_t> shape) {
  const std::uint64_t count = element_count(shape);
  if (blocks.layout == Layout::lists) {
    check_partition("block_count", blocks.lists, count);
    return blocks.lists.size();
  }
  check_blocks("block_count", blocks);
  if (count == 0) return 0;
  switch (blocks.layout) {
    case Layout::coordinate:
      return count;
    case Layout::row:
      return shape.empty() ? 1 : static_cast<std::uint64_t>(shape.front());
    case Layout::column:
      return shape.empty() ? 1 : static_cast<std::uint64_t>(shape.back());
    case Layout::heads:
      return heads_count(blocks.heads, shape);
    default:
      return 1;
  }
}

std::string blocks_name(const Blocks& blocks) {
  for (const NamedLayout& known : kPlainLayouts) {
    if (known.layout == blocks.layout) return std::string(known.name);
  }
  if (blocks.layout == Layout::heads) return fmt::format("{}{}", kHeads, blocks.heads);
  throw fail("blocks_name", "expected a layout with a name but received index lists");
}

Blocks blocks_from_name(std::string_view name) {
  for (const NamedLayout& known : kPlainLayouts) {
    if (known.name == name) return Blocks::of(known.layout);
  }
  if (name.starts_with(kHeads)) {
    const auto heads = heads_from(name.substr(kHeads.size()));
    if (!heads) {
      throw fail("blocks_from_name", "expected heads:N with N in [1, 2^32) but received '{}'",
                 name);
    }
    return Blocks::of_heads(*heads);
  }
  constexpr std::array<std::string_view, 5> known = {"coordinate", "tensor", "row", "column",
                                                     "heads:N"};
  throw fail("blocks_from_name", "expected {} but received '{}'{}", fmt::join(known, ", "), name,
             suggestion(name, known));
}

}  // namespace bcos
