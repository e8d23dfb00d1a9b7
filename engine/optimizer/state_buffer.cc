#include "engine/optimizer/state_buffer.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>

#include "bcos/memory.hpp"

namespace bcos {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kLine = 64;
constexpr std::size_t kLarge = std::size_t{4} << 20;

/// Half a page away from `other`, in the middle of what is free of its cache sets.
std::size_t offset_apart_from(const void* other) {
  const std::size_t in_page = reinterpret_cast<std::uintptr_t>(other) % kPage;
  return (in_page + kPage / 2) % kPage / kLine * kLine;
}

}  // namespace

StateBuffer::StateBuffer(std::size_t bytes, const void* apart_from) : bytes_(bytes) {
  if (bytes == 0) return;
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  const std::size_t with_offset = bytes + kPage;
  if (bytes >= kLarge) {
    mapped_ = with_offset;
    mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED) {
      mapping_ = nullptr;
      throw std::bad_alloc();
    }
    prefer_huge_pages(mapping_, mapped_);
    data_ = static_cast<std::byte*>(mapping_) + offset_apart_from(apart_from);
  } else {
    mapping_ = std::calloc(bytes + kLine, 1);
    if (mapping_ == nullptr) throw std::bad_alloc();
    const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
    data_ = static_cast<std::byte*>(mapping_) + (kLine - address % kLine) % kLine;
  }
}

StateBuffer::~StateBuffer() {
  if (mapped_ > 0) {
    munmap(mapping_, mapped_);
  } else {
    std::free(mapping_);
  }
}

StateBuffer::StateBuffer(StateBuffer&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

StateBuffer& StateBuffer::operator=(StateBuffer&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace bcos
