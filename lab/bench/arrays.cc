#include "lab/bench/arrays.hpp"

#include <sys/mman.h>

#include <new>
#include <utility>

namespace bcos::lab::bench {
namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21;
constexpr std::size_t kLine = 64;

std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

Array::Array(std::size_t bytes, std::uint64_t seed) : mapped_(bytes + 3 * kHugePage) {
  mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  const auto start = reinterpret_cast<std::uintptr_t>(mapping_);
  const std::size_t first_huge = (0 - start) % kHugePage;
  const std::size_t offset = first_huge + mixed(seed) % (kHugePage / kLine) * kLine;
  data_ = static_cast<std::byte*>(mapping_) + offset;
  // Whole huge pages, whatever the array has of its first and last: so that a list of arrays is
  // not looked up in smaller pages than one long array.
  madvise(static_cast<std::byte*>(mapping_) + first_huge, mapped_ - first_huge, MADV_HUGEPAGE);
}

Array::~Array() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

Array::Array(Array&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(other.mapped_),
      data_(std::exchange(other.data_, nullptr)) {}

void* Arena::take(std::size_t bytes) {
  std::byte* const place = memory_.as<std::byte>() + used_;
  used_ += (bytes + kLine - 1) / kLine * kLine;
  return place;
}

template <class T>
void fill(T* data, std::size_t n, std::uint64_t seed) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = static_cast<std::int64_t>(mixed(seed + i) >> 40) - (1 << 23);
    data[i] = static_cast<T>(bits) * static_cast<T>(0x1p-26);
  }
}

template void fill(float*, std::size_t, std::uint64_t);
template void fill(double*, std::size_t, std::uint64_t);

std::vector<std::vector<std::int64_t>> gpt2_shapes() {
  constexpr std::int64_t width = 768;
  std::vector<std::vector<std::int64_t>> shapes = {{50257, width}, {1024, width}};
  for (int layer = 0; layer < 12; ++layer) {
    shapes.insert(shapes.end(), {{width},
                                 {width},
                                 {3 * width, width},
                                 {3 * width},
                                 {width, width},
                                 {width},
                                 {width},
                                 {width},
                                 {4 * width, width},
                                 {4 * width},
                                 {width, 4 * width},
                                 {width}});
  }
  shapes.insert(shapes.end(), {{width}, {width}});
  return shapes;
}

std::vector<std::vector<std::int64_t>> small_shapes() {
  return std::vector<std::vector<std::int64_t>>(10'000, {1'000});
}

}  // namespace bcos::lab::bench
