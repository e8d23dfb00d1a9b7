#include "engine/update/block_shape.hpp"

#include <algorithm>

namespace bcos {

BlockShape::BlockShape(const Blocks& blocks, Dims shape) : count_(block_count(blocks, shape)) {
  const std::uint64_t n = element_count(shape);
  if (blocks.layout == Layout::lists) {
    // Lists of one element too: a block's bits must not depend on what the others hold.
    kind_ = Kind::lists;
    lists_ = &blocks.lists;
    return;
  }
  if (count_ == n) return;
  kind_ = blocks.layout == Layout::column ? Kind::columns : Kind::contiguous;
  length_ = n / count_;
}

}  // namespace bcos
