#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bcos/export.hpp"

namespace bcos {

/// How a tensor is cut into blocks; every block has one stepsize.
enum class Layout {
  coordinate,  ///< one element a block (the default, what every named method means)
  tensor,      ///< the whole tensor is one block
  row,         ///< elements that share their first index
  column,      ///< elements that share their last index
  heads,       ///< `heads` equal slices of the first dimension
  lists,       ///< explicit lists of row-major element indices, a partition of 0..n-1
};

using IndexLists = std::vector<std::vector<std::uint64_t>>;

/// A layout as a value. Text: "coordinate", "tensor", "row", "column", "heads:12", or lists.
struct Blocks {
  Layout layout = Layout::coordinate;
  std::uint32_t heads = 0;  ///< used by Layout::heads alone
  IndexLists lists;         ///< used by Layout::lists alone

  bool operator==(const Blocks&) const = default;

  static Blocks of(Layout layout) { return {layout, 0, {}}; }
  static Blocks of_heads(std::uint32_t heads) { return {Layout::heads, heads, {}}; }
  static Blocks of_lists(IndexLists lists) { return {Layout::lists, 0, std::move(lists)}; }
};

/// Number of blocks that `blocks` makes of a tensor of this shape.
/// Throws if the shape cannot be cut so (heads that do not divide, lists that are no partition).
BCOS_API std::uint64_t block_count(const Blocks& blocks, std::span<const std::int64_t> shape);

/// "row", "heads:12", ... Lists have no name: throws for them.
BCOS_API std::string blocks_name(const Blocks& blocks);
BCOS_API Blocks blocks_from_name(std::string_view name);

}  // namespace bcos
