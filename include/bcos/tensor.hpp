#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "bcos/export.hpp"

namespace bcos {

enum class DType { f32, f64 };

constexpr std::size_t bytes_of(DType dtype) { return dtype == DType::f32 ? 4 : 8; }
BCOS_API std::string_view name(DType dtype);

using Dims = std::span<const std::int64_t>;

/// Memory the caller owns, as a tensor. Strides count elements; none means row-major and dense.
/// A rank of 0 is one element; any size may be 0. Data may begin at any multiple of the element's
/// size; no wider alignment is asked for.
struct TensorView {
  void* data = nullptr;
  DType dtype = DType::f32;
  Dims shape = {};
  Dims strides = {};
};

/// Product of the sizes, checked for overflow and negative sizes.
BCOS_API std::uint64_t element_count(Dims shape);

}  // namespace bcos
