#pragma once

#include <cstddef>
#include <span>

namespace bcos {

/// Zeroed memory for one state of one parameter. Large ones ask for huge pages, and none begins at
/// a place in its page where it would fall on the cache sets of the parameter it belongs to.
class StateBuffer {
 public:
  StateBuffer() = default;
  StateBuffer(std::size_t bytes, const void* apart_from);
  ~StateBuffer();
  StateBuffer(StateBuffer&& other) noexcept;
  StateBuffer& operator=(StateBuffer&& other) noexcept;

  void* data() const { return data_; }
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(data_), bytes_}; }

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace bcos
