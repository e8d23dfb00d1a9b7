#pragma once

#include <cstdint>
#include <string_view>

#include "bcos/blocks.hpp"

namespace bcos {

/// Throws, naming the index at fault, unless the lists are a partition of 0..count-1.
void check_partition(std::string_view function, const IndexLists& lists, std::uint64_t count);

/// What can be said of a layout without a shape: heads >= 1, lists a partition of what they name,
/// nothing in the fields of other layouts.
void check_blocks(std::string_view function, const Blocks& blocks);

}  // namespace bcos
