#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bcos/tensor.hpp"

namespace bcos {

/// In which order the dimensions of a tensor are walked, outermost first; none: as they stand.
using DimOrder = std::span<const std::size_t>;

/// Where the elements of a tensor lie, counted in some order of its dimensions. Neighbouring
/// dimensions that can be walked as one are merged.
class Strides {
 public:
  struct Dim {
    std::uint64_t size;
    std::int64_t stride;
  };

  Strides() = default;
  /// No strides: row-major. Throws if the strides do not go with the shape or reach further than
  /// memory can.
  Strides(Dims shape, Dims strides, std::size_t bytes_of_element, DimOrder order = {}) {
    assign(shape, strides, bytes_of_element, order);
  }
  /// The same in place; allocates nothing after reserve(shape.size()).
  void assign(Dims shape, Dims strides, std::size_t bytes_of_element, DimOrder order = {});
  void reserve(std::size_t rank) { dims_.reserve(rank); }

  /// Whether element i lies at i.
  bool dense() const { return dims_.empty(); }
  /// Whether every `length` elements, from the first on, are a run of neighbours.
  bool has_dense_rows(std::uint64_t length) const {
    return dense() || (dims_.back().stride == 1 && dims_.back().size % length == 0);
  }
  /// How many elements follow each other before the dimension whose elements lie closest to each
  /// other is walked on; of the innermost dimension, if that is the one.
  std::uint64_t row() const;

  std::uint64_t size() const { return size_; }
  std::int64_t offset(std::uint64_t index) const;
  std::int64_t lowest() const { return lowest_; }         ///< offset of any element
  std::int64_t highest() const { return highest_; }       ///< offset of any element
  const std::vector<Dim>& dims() const { return dims_; }  ///< outermost first; none if dense

  /// Calls visit(k, offset) for the n elements begin + k step. Begin is a multiple of step, and
  /// step the size of some inner dimensions: 1, or the length of rows.
  template <class Visit>
  void for_each(std::uint64_t begin, std::uint64_t n, std::uint64_t step, const Visit& visit) const;

 private:
  std::vector<Dim> dims_;
  std::uint64_t size_ = 0;
  std::int64_t lowest_ = 0;
  std::int64_t highest_ = 0;
};

/// The dimensions in the order in which they lie in memory.
std::vector<std::size_t> order_in_memory(Dims strides);

/// The strides of dense memory in which elements follow each other as they do in a tensor with
/// these strides; empty if that is row-major.
std::vector<std::int64_t> dense_like(Dims shape, Dims strides);

/// Whether two elements lie at one place: of the tensor itself, or of two tensors whose first
/// elements are `apart` elements from each other (the second behind the first).
bool overlaps_itself(const Strides& strides);
bool overlap(const Strides& a, const Strides& b, std::int64_t apart);

template <class Visit>
void Strides::for_each(std::uint64_t begin, std::uint64_t n, std::uint64_t step,
                       const Visit& visit) const {
  std::size_t k = dims_.size();
  std::uint64_t inner = 1;  // elements of the dimensions that a step skips
  for (; k > 1 && inner * dims_[k - 1].size <= step; --k) inner *= dims_[k - 1].size;
  const Dim dim = dense() ? Dim{size_, 1} : dims_[k - 1];
  const std::int64_t stride = dim.stride * static_cast<std::int64_t>(step / inner);
  const std::uint64_t run = inner * dim.size;
  for (std::uint64_t done = 0; done < n;) {
    const std::uint64_t at = begin + done * step;
    const std::uint64_t end = std::min(n, done + (run - at % run) / step);
    for (std::int64_t place = offset(at); done < end; ++done, place += stride) visit(done, place);
  }
}

}  // namespace bcos
