#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace bcos::testing {

/// A small generator of its own: the same numbers on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  /// In [-1, 1).
  double signed_unit() {
    return static_cast<double>(static_cast<std::int64_t>(next()) >> 11) * 0x1p-52;
  }

  template <class T>
  std::vector<T> numbers(std::size_t n, double scale = 1) {
    std::vector<T> values(n);
    for (T& value : values) value = static_cast<T>(signed_unit() * scale);
    return values;
  }

  /// Magnitudes from 2^-range to 2^range, zeros among them.
  template <class T>
  std::vector<T> wild_numbers(std::size_t n, int range) {
    std::vector<T> values(n);
    for (T& value : values) {
      const auto exponent =
          static_cast<int>(below(2 * static_cast<std::uint64_t>(range) + 1)) - range;
      value = below(16) == 0 ? T{0} : static_cast<T>(std::ldexp(signed_unit(), exponent));
    }
    return values;
  }

 private:
  std::uint64_t state_;
};

}  // namespace bcos::testing
