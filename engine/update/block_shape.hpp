#pragma once

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
  BlockShape(const Blocks& blocks, Dims shape);

  Kind kind() const { return kind_; }
  std::uint64_t count() const { return count_; }
  std::uint64_t length(std::uint64_t k) const {
    return kind_ == Kind::lists ? (*lists_)[k].size() : length_;
  }
  std::uint64_t index(std::uint64_t k, std::uint64_t i) const {
    switch (kind_) {
      case Kind::contiguous:
        return k * length_ + i;
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
  std::uint64_t length_ = 1;
  const IndexLists* lists_ = nullptr;
};

}  // namespace bcos
