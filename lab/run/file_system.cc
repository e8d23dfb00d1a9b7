#include "lab/run/file_system.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <limits>

#include "engine/error.hpp"
#include "engine/safetensors/atomic_file.hpp"

namespace bcos::lab::run {

using safetensors::Descriptor;
using safetensors::io_error;
using safetensors::system_calls;

DirectoryCalls& directory_calls() {
  static DirectoryCalls calls{
      .mkdir = [](const char* path, mode_t mode) { return ::mkdir(path, mode); },
      .rmdir = [](const char* path) { return ::rmdir(path); },
      .statvfs = [](const char* path, struct statvfs* result) { return ::statvfs(path, result); },
  };
  return calls;
}

void make_directory(std::string_view function, const std::string& path) {
  if (directory_calls().mkdir(path.c_str(), 0777) == 0) return;
  const int code = errno;
  if (code != EEXIST) throw io_error(function, "make the directory", code, path);
  struct stat status{};
  if (system_calls().stat(path.c_str(), &status) != 0) {
    throw io_error(function, "look at", errno, path);
  }
  if (!S_ISDIR(status.st_mode)) {
    throw fail(ErrorCode::io, function, "expected a directory but received a file in '{}'", path);
  }
}

void sync_file(std::string_view function, const Descriptor& file, const std::string& path) {
  while (system_calls().fsync(file.get()) != 0) {
    if (errno != EINTR) throw io_error(function, "force to disk", errno, path);
  }
}

void sync_directory(std::string_view function, const std::string& path) {
  const Descriptor directory = safetensors::open_descriptor(path, O_RDONLY | O_DIRECTORY);
  if (directory.get() < 0) throw io_error(function, "open the directory", errno, path);
  while (system_calls().fsync(directory.get()) != 0) {
    if (errno == EINTR) continue;
    // Some file systems cannot sync a directory and say EINVAL: then there is nothing more to do.
    if (errno == EINVAL) return;
    throw io_error(function, "force to disk the directory", errno, path);
  }
}

std::vector<std::string> names_in(std::string_view function, const std::string& path) {
  std::vector<std::string> names;
  std::error_code code;
  std::filesystem::directory_iterator entry(path, code);
  while (!code && entry != std::filesystem::directory_iterator()) {
    names.push_back(entry->path().filename().string());
    entry.increment(code);
  }
  if (code) throw io_error(function, "list the directory", code.value(), path);
  std::ranges::sort(names);
  return names;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

void remove_tree(std::string_view function, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(std::filesystem::symlink_status(path, ignored))) {
    for (const std::string& name : names_in(function, path)) {
      remove_tree(function, path + "/" + name);
    }
    if (directory_calls().rmdir(path.c_str()) == 0) return;
  } else if (system_calls().unlink(path.c_str()) == 0) {
    return;
  }
  if (errno != ENOENT) throw io_error(function, "remove", errno, path);
}

void remove_half_written(std::string_view function, const std::string& path) {
  const std::string directory = parent_of(path);
  const std::string half =
      fmt::format("{}{}", path.substr(path.rfind('/') + 1), safetensors::AtomicFile::kTemporary);
  for (const std::string& name : names_in(function, directory)) {
    if (name.starts_with(half)) remove_tree(function, directory + "/" + name);
  }
}

std::uint64_t free_bytes(std::string_view function, const std::string& path) {
  constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();
  struct statvfs status{};
  while (directory_calls().statvfs(path.c_str(), &status) != 0) {
    if (errno != EINTR) throw io_error(function, "ask for the free space of", errno, path);
  }
  const std::uint64_t blocks = status.f_bavail;
  const std::uint64_t size = status.f_frsize;
  if (status.f_blocks == 0 || size == 0 || blocks > kLargest / size) return kLargest;
  return blocks * size;
}

std::size_t write_all(const Descriptor& file, std::string_view data) {
  std::size_t done = 0;
  while (done < data.size()) {
    const ssize_t count = system_calls().write(file.get(), data.data() + done, data.size() - done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0) {
      errno = EIO;
      break;
    } else if (errno != EINTR) {
      break;
    }
  }
  return done;
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool process_lives(pid_t process) {
  // 0 and negative numbers are groups of processes.
  return process > 0 && (::kill(process, 0) == 0 || errno == EPERM);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  std::string result = name.data();
  for (char& letter : result) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9') || letter == '-' || letter == '.';
    if (!plain) letter = '_';
  }
  return result;
}

}  // namespace bcos::lab::run
