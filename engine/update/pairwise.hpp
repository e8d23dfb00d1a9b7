#pragma once

#include <cstddef>
#include <cstdint>

namespace bcos {

/// Chunks of a sum: 4096 elements by position in the tensor or block.
inline constexpr std::uint64_t kSumChunk = 4096;

/// Adds values pairwise by their index: a binary tree over powers of two, fixed by how many there
/// are, so that a sum does not depend on who computed which part.
template <class V>
class PairwiseSum {
 public:
  void add(V value) {
    std::size_t level = 0;
    for (; (count_ >> level & 1) != 0; ++level) value = partial_[level] + value;
    partial_[level] = value;
    ++count_;
  }

  V total() const {
    V sum = {};
    bool first = true;
    for (std::size_t level = 0; count_ >> level != 0; ++level) {
      if ((count_ >> level & 1) == 0) continue;
      sum = first ? partial_[level] : partial_[level] + sum;
      first = false;
    }
    return sum;
  }

 private:
  std::uint64_t count_ = 0;
  V partial_[64];  ///< not set where count_ has no bit: a sum is made for every block
};

}  // namespace bcos
