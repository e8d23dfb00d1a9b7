#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bcos {

/// Room for `size` values, in steps that double: growing to that size cannot fail.
template <class T>
void make_room(std::vector<T>& values, std::size_t size) {
  if (size > values.capacity()) values.reserve(std::max(size, 2 * values.size() + 1));
}

/// Room for one more: the push_back that follows cannot fail.
template <class T>
void make_room(std::vector<T>& values) {
  make_room(values, values.size() + 1);
}

}  // namespace bcos
