#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bcos/tensor.hpp"

namespace bcos {

/// Where the elements of a tensor lie, in logical order. Neighbouring dimensions that can be walked
/// as one are merged.
class Strides {
 public:
  struct Dim {
    std::uint64_t size;
    std::int64_t stride;
    bool operator==(const Dim&) const = default;
  };

  Strides() = default;
  /// No strides: row-major. Throws if the strides do not go with the shape or reach further than
  /// memory can.
  Strides(Dims shape, Dims strides, std::size_t bytes_of_element) {
    assign(shape, strides, bytes_of_element);
  }
  /// The same in place; allocates nothing after reserve(shape.size()).
  void assign(Dims shape, Dims strides, std::size_t bytes_of_element);
  void reserve(std::size_t rank) { dims_.reserve(rank); }

  /// Whether element i lies at i.
  bool dense() const { return dims_.empty(); }
  std::uint64_t size() const { return size_; }
  std::int64_t offset(std::uint64_t index) const;
  std::int64_t lowest() const { return lowest_; }         ///< offset of any element
  std::int64_t highest() const { return highest_; }       ///< offset of any element
  const std::vector<Dim>& dims() const { return dims_; }  ///< outermost first; none if dense

 private:
  std::vector<Dim> dims_;
  std::uint64_t size_ = 0;
  std::int64_t lowest_ = 0;
  std::int64_t highest_ = 0;
};

/// The strides of dense memory in which elements follow each other as they do in a tensor with
/// these strides; empty if that is row-major.
std::vector<std::int64_t> dense_like(Dims shape, Dims strides);

/// Whether two elements lie at one place: of the tensor itself, or of two tensors whose first
/// elements are `apart` elements from each other (the second behind the first).
bool overlaps_itself(const Strides& strides);
bool overlap(const Strides& a, const Strides& b, std::int64_t apart);

/// Copies elements [begin, begin + n) into dense memory, or back, by runs of the innermost
/// dimension.
template <class T>
void gather(const T* base, const Strides& strides, std::uint64_t begin, std::size_t n, T* out);
template <class T>
void scatter(const T* in, const Strides& strides, std::uint64_t begin, std::size_t n, T* base);

}  // namespace bcos
