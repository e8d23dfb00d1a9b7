#include "engine/update/nest.hpp"

#include <algorithm>
#include <cstdlib>

namespace bcos {
namespace {

std::int64_t stride_of(Dims shape, Dims strides, std::size_t k) {
  if (!strides.empty()) return strides[k];
  std::int64_t stride = 1;
  for (std::size_t inner = k + 1; inner < shape.size(); ++inner) stride *= shape[inner];
  return stride;
}

/// Whether every stream walks the outer dimension as more of the inner one.
bool are_one(const Nest::Dim& outer, const Nest::Dim& inner) {
  const auto size = static_cast<std::int64_t>(inner.size);
  for (int s = 0; s < kStreams; ++s) {
    if (outer.strides[s] != size * inner.strides[s]) return false;
  }
  return true;
}

}  // namespace

void Nest::assign(Dims shape, const std::array<Layout, kStreams>& layouts) {
  dims_.clear();
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] == 1) continue;
    Dim dim{static_cast<std::uint64_t>(shape[k]), {}};
    for (int s = 0; s < kStreams; ++s) {
      const Layout& layout = layouts[layouts[s].present ? s : kX];
      dim.strides[s] = stride_of(shape, layout.strides, k);
    }
    const auto closer = std::ranges::find_if(dims_, [&](const Dim& other) {
      return std::abs(other.strides[kX]) < std::abs(dim.strides[kX]);
    });
    dims_.insert(closer, dim);
  }
  std::size_t merged = 0;
  for (std::size_t k = 1; k < dims_.size(); ++k) {
    if (are_one(dims_[merged], dims_[k])) {
      dims_[k].size *= dims_[merged].size;
      dims_[merged] = dims_[k];
    } else {
      dims_[++merged] = dims_[k];
    }
  }
  if (!dims_.empty()) dims_.resize(merged + 1);
}

bool Nest::is_one_run() const {
  if (dims_.empty()) return true;
  return dims_.size() == 1 &&
         std::ranges::all_of(dims_[0].strides, [](std::int64_t stride) { return stride == 1; });
}

}  // namespace bcos
