#pragma once

#include <cstdint>
#include <cstring>

namespace bcos {

/// Where the elements of a matrix lie: element (row, i) at data[row * down + i * along].
template <class T>
struct MatrixView {
  T* data;
  std::int64_t down;
  std::int64_t along;

  T* at(std::int64_t row, std::int64_t i) const { return data + row * down + i * along; }
};

/// Copies four rows of four elements, dense in one direction here and in the other there.
template <class T>
inline void transpose_four(const T* from, std::int64_t from_apart, T* to, std::int64_t to_apart) {
  typedef T Four __attribute__((vector_size(4 * sizeof(T))));
  Four a, b, c, d;
  std::memcpy(&a, from, sizeof(Four));
  std::memcpy(&b, from + from_apart, sizeof(Four));
  std::memcpy(&c, from + 2 * from_apart, sizeof(Four));
  std::memcpy(&d, from + 3 * from_apart, sizeof(Four));
  const Four low_ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four high_ab = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four low_cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four high_cd = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  a = __builtin_shufflevector(low_ab, low_cd, 0, 1, 4, 5);
  b = __builtin_shufflevector(low_ab, low_cd, 2, 3, 6, 7);
  c = __builtin_shufflevector(high_ab, high_cd, 0, 1, 4, 5);
  d = __builtin_shufflevector(high_ab, high_cd, 2, 3, 6, 7);
  std::memcpy(to, &a, sizeof(Four));
  std::memcpy(to + to_apart, &b, sizeof(Four));
  std::memcpy(to + 2 * to_apart, &c, sizeof(Four));
  std::memcpy(to + 3 * to_apart, &d, sizeof(Four));
}

/// Copies `rows` rows of n elements. A transposed copy goes by squares, so that each cache line of
/// either side is used whole.
template <class T>
void copy_matrix(MatrixView<T> from, MatrixView<T> to, std::uint64_t rows, std::uint64_t n) {
  const auto height = static_cast<std::int64_t>(rows);
  const auto width = static_cast<std::int64_t>(n);
  std::int64_t squares = 0;  // elements of each row that squares have copied
  const bool transposed =
      height % 4 == 0 && ((from.down == 1 && to.along == 1) || (from.along == 1 && to.down == 1));
  if (transposed) squares = width / 4 * 4;
  for (std::int64_t i = 0; i < squares; i += 4) {
    for (std::int64_t row = 0; row < height; row += 4) {
      if (from.down == 1) {
        transpose_four(from.at(row, i), from.along, to.at(row, i), to.down);
      } else {
        transpose_four(from.at(row, i), from.down, to.at(row, i), to.along);
      }
    }
  }
  for (std::int64_t row = 0; row < height; ++row) {
    for (std::int64_t i = squares; i < width; ++i) *to.at(row, i) = *from.at(row, i);
  }
}

}  // namespace bcos
