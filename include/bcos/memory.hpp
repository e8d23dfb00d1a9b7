#pragma once

#include <cstddef>

#include "bcos/export.hpp"

namespace bcos {

/// For those who keep states themselves: asks the system to back memory that nobody has written yet
/// with huge pages, in which a step finds it sooner. Large memory alone is worth it; only huge
/// pages that lie in it as a whole are asked for. A wish: nothing depends on its being granted.
BCOS_API void prefer_huge_pages(void* memory, std::size_t bytes);

}  // namespace bcos
