#include "engine/update/block_shape.hpp"

#include <algorithm>

namespace bcos {

BlockShape::BlockShape(const Blocks& blocks, Dims shape) : count_(block_count(blocks, shape)) {
  const std::uint64_t n = element_count(shape);
  if (blocks.layout == Layout::lists) {
    // Coordinates written as lists in their own order are coordinates.
    bool singletons = true;
    for (std::uint64_t k = 0; k < count_ && singletons; ++k) {
      singletons = blocks.lists[k].size() == 1 && blocks.lists[k][0] == k;
    }
    if (!singletons) {
      kind_ = Kind::lists;
      lists_ = &blocks.lists;
    }
    return;
  }
  if (count_ == n) return;
  kind_ = blocks.layout == Layout::column ? Kind::columns : Kind::contiguous;
  length_ = n / count_;
}

}  // namespace bcos
