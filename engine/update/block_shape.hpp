#pragma once

#include <algorithm>
#include <cstdint>

#include "bcos/blocks.hpp"
#include "bcos/tensor.hpp"

namespace bcos {

/// The blocks of one tensor. Block k holds `length(k)` elements, the i-th of them at row-major
/// index `index(k, i)`.
class BlockShape {
 public:
  enum class Kind {
    coordinate,
    contiguous,  ///< equal runs of neighbouring elements
    columns,     ///< every count-th element
    lists,
  };

  BlockShape() = default;
  /// `blocks` must outlive this if it holds lists.
  BlockShape(const Blocks& blocks, Dims shape) : count_(block_count(blocks, shape)) {
    const std::uint64_t n = element_count(shape);
    if (blocks.layout == Layout::lists) {
      // Lists of one element too: the bits of a block must not depend on what the others hold.
      kind_ = Kind::lists;
      lists_ = &blocks.lists;
    } else if (count_ != n) {
      kind_ = blocks.layout == Layout::column ? Kind::columns : Kind::contiguous;
    }
    usual_length_ = count_ == 0 ? 1 : std::max<std::uint64_t>(n / count_, 1);
  }

  Kind kind() const { return kind_; }
  std::uint64_t count() const { return count_; }
  /// Of every block, but for lists, where it is the mean.
  std::uint64_t usual_length() const { return usual_length_; }
  std::uint64_t length(std::uint64_t k) const {
    return kind_ == Kind::lists ? (*lists_)[k].size() : usual_length_;
  }
  std::uint64_t index(std::uint64_t k, std::uint64_t i) const {
    switch (kind_) {
      case Kind::contiguous:
        return k * usual_length_ + i;
      case Kind::columns:
        return i * count_ + k;
      case Kind::lists:
        return (*lists_)[k][i];
      case Kind::coordinate:
        break;
    }
    return k;
  }

 private:
  Kind kind_ = Kind::coordinate;
  std::uint64_t count_ = 0;
  std::uint64_t usual_length_ = 1;
  const IndexLists* lists_ = nullptr;
};

}  // namespace bcos
