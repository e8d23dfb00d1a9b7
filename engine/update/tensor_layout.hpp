#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bcos/tensor.hpp"

namespace bcos {

/// Where the elements of a tensor lie, in row-major logical order. Neighbouring dimensions that can
/// be walked as one are merged; a dense tensor has none left.
class TensorLayout {
 public:
  TensorLayout() = default;
  /// Throws if the strides do not go with the shape, or reach further than memory can.
  TensorLayout(Dims shape, Dims strides);

  bool dense() const { return dims_.empty(); }
  std::uint64_t size() const { return size_; }

  /// Whether two indices name one place (a stride of 0, or overlapping rows).
  bool overlaps_itself() const;

  /// Offset of an element, in elements.
  std::int64_t offset(std::uint64_t index) const;

  /// Lowest and highest offset of any element.
  std::int64_t lowest() const { return lowest_; }
  std::int64_t highest() const { return highest_; }

  bool operator==(const TensorLayout&) const = default;

 private:
  struct Dim {
    std::uint64_t size;
    std::int64_t stride;
    bool operator==(const Dim&) const = default;
  };
  std::vector<Dim> dims_;  // outermost first
  std::uint64_t size_ = 0;
  std::int64_t lowest_ = 0;
  std::int64_t highest_ = 0;
};

/// Copies elements [begin, begin + n) in logical order into dense memory, or back.
template <class T>
void gather(const T* base, const TensorLayout& layout, std::uint64_t begin, std::size_t n, T* out);
template <class T>
void scatter(const T* in, const TensorLayout& layout, std::uint64_t begin, std::size_t n, T* base);

}  // namespace bcos
