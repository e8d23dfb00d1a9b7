#pragma once

#include <vector>

namespace bcos {

/// Room for one more, in steps that double: the push_back that follows cannot fail.
template <class T>
void make_room(std::vector<T>& values) {
  if (values.size() == values.capacity()) values.reserve(2 * values.size() + 1);
}

}  // namespace bcos
