#include "engine/update/strides.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "engine/error.hpp"

namespace bcos {
namespace {

std::uint64_t magnitude(std::int64_t stride) {
  const auto bits = static_cast<std::uint64_t>(stride);
  return stride < 0 ? 0 - bits : bits;
}

std::int64_t row_major_stride(Dims shape, std::size_t k) {
  std::int64_t stride = 1;
  while (++k < shape.size()) stride *= shape[k];
  return stride;
}

}  // namespace

void Strides::assign(Dims shape, Dims strides, std::size_t bytes_of_element, DimOrder order) {
  const std::uint64_t size = element_count(shape);
  if (!strides.empty() && strides.size() != shape.size()) {
    throw fail(ErrorCode::mismatch, "tensor", "expected {} strides but received {}", shape.size(),
               strides.size());
  }
  const std::int64_t most =
      std::numeric_limits<std::ptrdiff_t>::max() / static_cast<std::ptrdiff_t>(bytes_of_element);
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (std::size_t i = 0; size > 1 && i < strides.size(); ++i) {
    std::int64_t reach = 0;
    std::int64_t span = 0;
    std::int64_t& end = strides[i] < 0 ? low : high;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) ||
        __builtin_add_overflow(end, reach, &end) || __builtin_sub_overflow(high, low, &span) ||
        span >= most) {
      throw fail("tensor", "expected strides that stay within memory but received {} for size {}",
                 strides[i], shape[i]);
    }
  }
  dims_.clear();
  size_ = size;
  lowest_ = low;
  highest_ = high;
  if (strides.empty()) highest_ = size == 0 ? 0 : static_cast<std::int64_t>(size) - 1;
  if (size <= 1 || (strides.empty() && order.empty())) return;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const std::size_t i = order.empty() ? k : order[k];
    if (shape[i] == 1) continue;
    const Dim dim{static_cast<std::uint64_t>(shape[i]),
                  strides.empty() ? row_major_stride(shape, i) : strides[i]};
    if (!dims_.empty() && dims_.back().stride == shape[i] * dim.stride) {
      dims_.back() = {dims_.back().size * dim.size, dim.stride};
    } else {
      dims_.push_back(dim);
    }
  }
  if (dims_.size() == 1 && dims_[0].stride == 1) dims_.clear();
}

std::uint64_t Strides::row() const {
  if (dense()) return std::max<std::uint64_t>(size_, 1);
  std::uint64_t inner = dims_.back().size;
  std::uint64_t row = inner;
  std::uint64_t closest = magnitude(dims_.back().stride);
  for (std::size_t k = dims_.size() - 1; k-- > 0; inner *= dims_[k].size) {
    if (magnitude(dims_[k].stride) >= closest) continue;
    closest = magnitude(dims_[k].stride);
    row = inner;
  }
  return row;
}

std::int64_t Strides::offset(std::uint64_t index) const {
  if (dense()) return static_cast<std::int64_t>(index);
  std::int64_t offset = 0;
  for (std::size_t i = dims_.size(); i-- > 0;) {
    offset += static_cast<std::int64_t>(index % dims_[i].size) * dims_[i].stride;
    index /= dims_[i].size;
  }
  return offset;
}

std::vector<std::size_t> order_in_memory(Dims strides) {
  std::vector<std::size_t> order(strides.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t i, std::size_t j) {
    const std::uint64_t a = magnitude(strides[i]), b = magnitude(strides[j]);
    return a != b ? a > b : i < j;
  });
  return order;
}

std::vector<std::int64_t> dense_like(Dims shape, Dims strides) {
  std::vector<std::int64_t> dense;
  const std::vector<std::size_t> order = order_in_memory(strides);
  if (std::ranges::is_sorted(order)) return dense;
  dense.resize(strides.size());
  std::int64_t next = 1;
  for (auto k = order.rbegin(); k != order.rend(); ++k) {
    dense[*k] = next;
    next *= shape[*k];
  }
  return dense;
}

}  // namespace bcos
