#pragma once

#include <sys/statvfs.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/safetensors/file_io.hpp"

/// What the files of a run need of the system beyond engine/safetensors/file_io.hpp. Nothing here
/// is undone on failure; failures are Error(io) that names the path.
namespace bcos::lab::run {

/// The calls that safetensors::SystemCalls has not, for tests to make fail in the same way.
struct DirectoryCalls {
  int (*mkdir)(const char* path, mode_t mode);
  int (*rmdir)(const char* path);
  int (*statvfs)(const char* path, struct statvfs* result);
};

DirectoryCalls& directory_calls();

/// Makes a directory in one that exists. One that is there already will do.
void make_directory(std::string_view function, const std::string& path);

/// Forces to disk which names a directory has.
void sync_directory(std::string_view function, const std::string& path);

/// Forces a file's bytes to disk.
void sync_file(std::string_view function, const safetensors::Descriptor& file,
               const std::string& path);

/// The names in a directory, sorted by bytes.
std::vector<std::string> names_in(std::string_view function, const std::string& path);

/// Whether a name is there, be it a link to nowhere.
bool exists(const std::string& path);

/// Removes a file, or a directory with all that is in it; links are removed, not followed.
void remove_tree(std::string_view function, const std::string& path);

/// Removes what writing `path` whole or not at all (AtomicFile) has left beside it in processes
/// that died; for the file's one owner.
void remove_half_written(std::string_view function, const std::string& path);

/// Bytes that a file system has for the user; the largest number where it does not say.
std::uint64_t free_bytes(std::string_view function, const std::string& path);

/// Writes until all is out or the system refuses. Returns how many bytes went out; if not all,
/// errno says why.
std::size_t write_all(const safetensors::Descriptor& file, std::string_view data);

/// "a/b" of "a/b/c", "." of "c".
std::string parent_of(const std::string& path);

/// Whether this machine runs a process of that number.
bool process_lives(pid_t process);

/// The machine's name, with only letters, digits, '-', '_' and '.'.
std::string host_name();

}  // namespace bcos::lab::run
