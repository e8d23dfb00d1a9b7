#include "engine/safetensors/file_io.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "engine/error.hpp"

namespace bcos::safetensors {

SystemCalls& system_calls() {
  static SystemCalls calls{
      .open = [](const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); },
      .close = ::close,
      .stat = [](const char* path, struct stat* result) { return ::stat(path, result); },
      .fstat = [](int fd, struct stat* result) { return ::fstat(fd, result); },
      .pread = ::pread,
      .write = ::write,
      .fsync = ::fsync,
      .rename = ::rename,
      .unlink = ::unlink,
  };
  return calls;
}

Descriptor::~Descriptor() { close(); }

Descriptor::Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

int Descriptor::close() {
  const int fd = std::exchange(fd_, -1);
  if (fd < 0 || system_calls().close(fd) == 0) return 0;
  // Linux has closed the file even so, and trying again could close someone else's.
  return errno == EINTR ? 0 : errno;
}

Descriptor open_descriptor(const std::string& path, int flags, mode_t mode) {
  int fd;
  do {
    fd = system_calls().open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return Descriptor(fd);
}

Error io_error(std::string_view function, std::string_view operation, int code,
               std::string_view path, std::string_view advice) {
  return fail(ErrorCode::io, function, "expected to {} '{}' but received '{}'{}", operation, path,
              std::generic_category().message(code), advice);
}

Error write_error(std::string_view function, std::string_view operation, int code,
                  std::string_view path, std::uint64_t bytes) {
  const bool full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  return io_error(function, operation, code, path,
                  full ? fmt::format(": {} bytes are needed", bytes) : std::string());
}

void check_path(std::string_view function, const std::string& path) {
  if (path.empty()) throw fail(function, "expected a path but received an empty one");
  if (path.find('\0') != std::string::npos) {
    throw fail(function, "expected a path but received one with a NUL: '{}'", path.c_str());
  }
}

Descriptor open_regular(std::string_view function, const std::string& path, std::uint64_t& size) {
  check_path(function, path);
  // O_NONBLOCK: opening a FIFO would wait for a writer. It changes nothing for regular files.
  Descriptor file = open_descriptor(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (file.get() < 0) throw io_error(function, "open", errno, path);
  struct stat status{};
  if (system_calls().fstat(file.get(), &status) != 0) {
    throw io_error(function, "get the size of", errno, path);
  }
  if (!S_ISREG(status.st_mode)) {
    throw fail(ErrorCode::io, function, "expected a regular file but received {} in '{}'",
               S_ISDIR(status.st_mode) ? "a directory" : "a device, FIFO or socket", path);
  }
  size = static_cast<std::uint64_t>(status.st_size);
  return file;
}

std::size_t read_at(std::string_view function, const Descriptor& file, std::uint64_t offset,
                    std::span<std::byte> out, const std::string& path) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t count = system_calls().pread(file.get(), out.data() + done, out.size() - done,
                                               static_cast<off_t>(offset + done));
    if (count < 0) {
      if (errno == EINTR) continue;
      throw io_error(function, "read", errno, path);
    }
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

}  // namespace bcos::safetensors
