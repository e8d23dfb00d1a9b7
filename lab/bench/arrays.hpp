#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bcos::lab::bench {

/// Memory for a benchmark, at a random place in a huge page.
class Array {
 public:
  Array(std::size_t bytes, std::uint64_t seed);
  ~Array();
  Array(Array&& other) noexcept;
  Array& operator=(Array&&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* mapping_;
  std::size_t mapped_;
  void* data_;
};

/// Many small arrays one behind the other, as an allocator would place them.
class Arena {
 public:
  explicit Arena(std::size_t bytes, std::uint64_t seed) : memory_(bytes, seed) {}
  void* take(std::size_t bytes);

 private:
  Array memory_;
  std::size_t used_ = 0;
};

/// Fills with small numbers, all different, the same on every machine.
template <class T>
void fill(T* data, std::size_t n, std::uint64_t seed);

/// Sizes of the tensors of a list: one array, GPT-2's 148 parameters, or many small ones.
std::vector<std::vector<std::int64_t>> gpt2_shapes();
std::vector<std::vector<std::int64_t>> small_shapes();

}  // namespace bcos::lab::bench
