#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bcos/error.hpp"

namespace bcos::safetensors {

/// Every call to the operating system goes through this table, so that tests can make any of them
/// fail. Not to be changed while files are read or written.
struct SystemCalls {
  int (*open)(const char* path, int flags, mode_t mode);
  int (*close)(int fd);
  int (*stat)(const char* path, struct stat* result);
  int (*fstat)(int fd, struct stat* result);
  ssize_t (*pread)(int fd, void* out, std::size_t size, off_t offset);
  ssize_t (*write)(int fd, const void* data, std::size_t size);
  int (*fsync)(int fd);
  int (*rename)(const char* from, const char* to);
  int (*unlink)(const char* path);
};

SystemCalls& system_calls();

/// An open file descriptor, closed at the end of its life.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  int get() const { return fd_; }
  /// Closes now; returns errno, 0 if all is well.
  int close();

 private:
  int fd_;
};

/// open(), repeated while interrupted. On failure get() is -1 and errno says why.
Descriptor open_descriptor(const std::string& path, int flags, mode_t mode = 0);

/// "[function] expected to <operation> '<path>' but received '<reason>'<advice>".
Error io_error(std::string_view function, std::string_view operation, int code,
               std::string_view path, std::string_view advice = {});

/// The same for a write; where the disk is full it says how many bytes are needed.
Error write_error(std::string_view function, std::string_view operation, int code,
                  std::string_view path, std::uint64_t bytes);

/// Refuses an empty path and one with a NUL, which the system would take for another path.
void check_path(std::string_view function, const std::string& path);

/// Opens a regular file for reading and gives its size. A FIFO or a device is refused, not waited
/// on.
Descriptor open_regular(std::string_view function, const std::string& path, std::uint64_t& size);

/// Reads until `out` is full or the file ends; returns how many bytes there were.
std::size_t read_at(std::string_view function, const Descriptor& file, std::uint64_t offset,
                    std::span<std::byte> out, const std::string& path);

}  // namespace bcos::safetensors
