#include "engine/update/tensor_layout.hpp"

#include <algorithm>

#include "engine/error.hpp"

namespace bcos {

TensorLayout::TensorLayout(Dims shape, Dims strides) : size_(element_count(shape)) {
  if (!strides.empty() && strides.size() != shape.size()) {
    throw fail(ErrorCode::mismatch, "tensor", "expected {} strides but received {}", shape.size(),
               strides.size());
  }
  if (size_ <= 1) return;
  if (strides.empty()) {
    highest_ = static_cast<std::int64_t>(size_) - 1;
    return;
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    const auto size = static_cast<std::uint64_t>(shape[i]);
    std::int64_t reach = 0;
    std::int64_t& end = strides[i] < 0 ? lowest_ : highest_;
    if (__builtin_mul_overflow(static_cast<std::int64_t>(size - 1), strides[i], &reach) ||
        __builtin_add_overflow(end, reach, &end)) {
      throw fail("tensor", "expected strides that stay within memory but received {} for size {}",
                 strides[i], size);
    }
    if (!dims_.empty() && dims_.back().stride == static_cast<std::int64_t>(size) * strides[i]) {
      dims_.back().size *= size;
      dims_.back().stride = strides[i];
    } else {
      dims_.push_back({size, strides[i]});
    }
  }
  if (dims_.size() == 1 && dims_[0].stride == 1) dims_.clear();
}

bool TensorLayout::overlaps_itself() const {
  std::vector<Dim> sorted = dims_;
  for (Dim& dim : sorted) dim.stride = dim.stride < 0 ? -dim.stride : dim.stride;
  std::ranges::sort(sorted, {}, &Dim::stride);
  std::int64_t reach = 0;
  for (const Dim& dim : sorted) {
    if (dim.stride <= reach) return true;
    reach += static_cast<std::int64_t>(dim.size - 1) * dim.stride;
  }
  return false;
}

std::int64_t TensorLayout::offset(std::uint64_t index) const {
  if (dense()) return static_cast<std::int64_t>(index);
  std::int64_t offset = 0;
  for (std::size_t i = dims_.size(); i-- > 0;) {
    offset += static_cast<std::int64_t>(index % dims_[i].size) * dims_[i].stride;
    index /= dims_[i].size;
  }
  return offset;
}

template <class T>
void gather(const T* base, const TensorLayout& layout, std::uint64_t begin, std::size_t n, T* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = base[layout.offset(begin + i)];
}

template <class T>
void scatter(const T* in, const TensorLayout& layout, std::uint64_t begin, std::size_t n, T* base) {
  for (std::size_t i = 0; i < n; ++i) base[layout.offset(begin + i)] = in[i];
}

template void gather(const float*, const TensorLayout&, std::uint64_t, std::size_t, float*);
template void gather(const double*, const TensorLayout&, std::uint64_t, std::size_t, double*);
template void scatter(const float*, const TensorLayout&, std::uint64_t, std::size_t, float*);
template void scatter(const double*, const TensorLayout&, std::uint64_t, std::size_t, double*);

}  // namespace bcos
