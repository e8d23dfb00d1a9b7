#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <new>
#include <vector>

namespace bcos::testing {

/// Pages that end where one begins that nobody may touch. They are used again and again: mapping
/// them anew for every array takes longer than all that is done with them.
class GuardedPages {
 public:
  explicit GuardedPages(std::size_t bytes) : pages_(bytes / page_size() + 1) {
    std::vector<std::byte*>& free = unused()[pages_];
    if (free.empty()) free.push_back(mapped(pages_));
    begin_ = free.back();
    free.pop_back();
  }
  ~GuardedPages() { unused()[pages_].push_back(begin_); }
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;

  std::byte* end() const { return begin_ + pages_ * page_size(); }

 private:
  static std::size_t page_size() {
    static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
  }
  static std::map<std::size_t, std::vector<std::byte*>>& unused() {
    static std::map<std::size_t, std::vector<std::byte*>> by_pages;
    return by_pages;
  }
  static std::byte* mapped(std::size_t pages) {
    const std::size_t bytes = (pages + 1) * page_size();
    void* const place =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::bad_alloc();
    auto* const begin = static_cast<std::byte*>(place);
    mprotect(begin + pages * page_size(), page_size(), PROT_NONE);
    return begin;
  }

  std::size_t pages_;
  std::byte* begin_;
};

/// Numbers with such an end.
template <class T>
class GuardedArray {
 public:
  explicit GuardedArray(const std::vector<T>& values)
      : size_(values.size()),
        pages_(size_ * sizeof(T)),
        data_(reinterpret_cast<T*>(pages_.end()) - size_) {
    std::ranges::copy(values, data_);
  }

  T* data() const { return data_; }
  std::vector<T> values() const { return {data_, data_ + size_}; }

 private:
  std::size_t size_;
  GuardedPages pages_;
  T* data_;
};

}  // namespace bcos::testing
