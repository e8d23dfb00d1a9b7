#include "engine/safetensors/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "engine/error.hpp"

namespace bcos::safetensors {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

int sync(const Descriptor& file) {
  while (system_calls().fsync(file.get()) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

AtomicFile::AtomicFile(std::string_view function, const std::string& path, std::uint64_t bytes)
    : function_(function), path_(path), bytes_(bytes) {
  check_path(function, path);
  // rename() would put a file in the place of a device just as well.
  struct stat status{};
  if (system_calls().stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) {
      throw fail(ErrorCode::io, function,
                 "expected a regular file to replace but received something else in '{}'", path);
    }
  } else if (errno != ENOENT) {
    throw error("look at", errno);
  }
  buffer_.reserve(std::min<std::uint64_t>(bytes, kBufferBytes));
  open_directory();
  open_temporary();
}

AtomicFile::~AtomicFile() {
  file_.close();
  if (!temporary_.empty()) system_calls().unlink(temporary_.c_str());
}

// Opened before anything is written: a directory that cannot be synced is known at once.
void AtomicFile::open_directory() {
  directory_ = open_descriptor(directory_of(path_), O_RDONLY | O_DIRECTORY);
  if (directory_.get() < 0) throw error("open the directory of", errno);
}

void AtomicFile::open_temporary() {
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = fmt::format("{}{}{}-{}", path_, kTemporary, ::getpid(), counter++);
    file_ = open_descriptor(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (file_.get() >= 0) {
      temporary_ = std::move(name);
      return;
    }
    if (errno != EEXIST) break;  // a dead process of our number may have left one
  }
  throw error("create a temporary file beside", errno);
}

void AtomicFile::append(std::span<const std::byte> data) {
  if (buffer_.size() + data.size() > kBufferBytes) flush();
  if (data.size() >= kBufferBytes) {
    write_all(data);
  } else {
    buffer_.insert(buffer_.end(), data.begin(), data.end());
  }
}

void AtomicFile::flush() {
  write_all(buffer_);
  buffer_.clear();
}

void AtomicFile::write_all(std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t count = system_calls().write(file_.get(), data.data(), data.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      throw error("write", errno);
    }
    if (count == 0) throw error("write", EIO);
    data = data.subspan(static_cast<std::size_t>(count));
  }
}

void AtomicFile::commit() {
  flush();
  if (const int code = sync(file_)) throw error("force to disk", code);
  if (const int code = file_.close()) throw error("close", code);
  if (system_calls().rename(temporary_.c_str(), path_.c_str()) != 0) {
    throw error("rename the temporary file to", errno);
  }
  temporary_.clear();
  // Some file systems cannot sync a directory and say EINVAL: then there is nothing more to do.
  if (const int code = sync(directory_); code != 0 && code != EINVAL) {
    throw error("force to disk the directory of", code);
  }
}

Error AtomicFile::error(std::string_view operation, int code) const {
  return write_error(function_, operation, code, path_, bytes_);
}

}  // namespace bcos::safetensors
