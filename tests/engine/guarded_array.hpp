#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>
#include <vector>

namespace bcos::testing {

/// Numbers that end where a page begins that nobody may touch.
template <class T>
class GuardedArray {
 public:
  explicit GuardedArray(const std::vector<T>& values) : size_(values.size()) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    mapped_ = (size_ * sizeof(T) / page + 2) * page;
    mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED) throw std::bad_alloc();
    auto* const wall = static_cast<std::byte*>(mapping_) + mapped_ - page;
    mprotect(wall, page, PROT_NONE);
    data_ = reinterpret_cast<T*>(wall) - size_;
    std::ranges::copy(values, data_);
  }
  ~GuardedArray() { munmap(mapping_, mapped_); }
  GuardedArray(const GuardedArray&) = delete;
  GuardedArray& operator=(const GuardedArray&) = delete;

  T* data() const { return data_; }
  std::vector<T> values() const { return {data_, data_ + size_}; }

 private:
  std::size_t size_;
  std::size_t mapped_;
  void* mapping_;
  T* data_;
};

}  // namespace bcos::testing
