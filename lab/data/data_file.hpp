#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bcos::lab::data {

/// What a run remembers of the data it was trained on.
struct FileFact {
  std::string path;
  std::uint64_t bytes = 0;
  std::uint32_t crc32c = 0;
  bool operator==(const FileFact&) const = default;
};

/// A regular file with the size that it had when it was first seen. It is opened for every read, so
/// that any number of them may be in use, and never mapped: a file that is cut while in use gives
/// an Error.
class DataFile {
 public:
  /// Throws Error(io).
  explicit DataFile(std::string path);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  /// Fills `out` from `offset`. Throws Error(io) if the file has another size than at first.
  void read(std::uint64_t offset, std::span<std::byte> out) const;
  /// At most `most` of the first bytes.
  std::string beginning(std::uint64_t most) const;
  /// All of it; a file larger than `most` is refused with Error(corrupt).
  std::string text(std::uint64_t most) const;
  /// Hands out the bytes from `offset` on in pieces of at most 1 MiB, in order; all but the last
  /// have a length divisible by 8. Returns the fact about the whole file.
  FileFact scan(std::uint64_t offset,
                const std::function<void(std::span<const std::byte>)>& piece) const;
  FileFact fact() const;

 private:
  std::string path_;
  std::uint64_t size_ = 0;
};

/// The largest text or image file that is read whole: beyond it, token files are the way.
inline constexpr std::uint64_t kLargestWhole = std::uint64_t{1} << 34;

/// The fact about bytes that are in memory.
FileFact fact_of(std::string path, std::string_view bytes);

/// Whether there is a folder, or anything, of that name; errors of the file system count as no.
bool is_folder(const std::string& path);
bool path_exists(const std::string& path);

/// The name of the packing that the first bytes of a file show (gzip, xz, ...), or nothing.
std::string_view packing_of(std::string_view beginning);

}  // namespace bcos::lab::data
