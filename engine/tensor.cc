#include "bcos/tensor.hpp"

#include <algorithm>

#include "engine/error.hpp"

namespace bcos {

std::string_view name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float32";
    case DType::f64:
      return "float64";
  }
  throw fail("name", "expected a DType but received the number {}", static_cast<int>(dtype));
}

std::uint64_t element_count(Dims shape) {
  // Room to multiply by the size of an element and to add without wrapping.
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  for (const std::int64_t size : shape) {
    if (size < 0) throw fail("element_count", "expected sizes >= 0 but received {}", size);
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t count = 1;
  for (const std::int64_t size : shape) {
    if (static_cast<std::uint64_t>(size) > most / count) {
      throw fail("element_count", "expected at most 2^62 elements but received the shape ({})",
                 fmt::join(shape, ", "));
    }
    count *= static_cast<std::uint64_t>(size);
  }
  return count;
}

}  // namespace bcos
