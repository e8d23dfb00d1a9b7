#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bcos/export.hpp"

/// safetensors files (docs/formats.md): read with checks before anything is allocated, written so
/// that a crash leaves the old file or the new one.
namespace bcos::safetensors {

struct TensorInfo {
  std::string name;
  std::string dtype;  ///< "F32", "F64", "BF16", "I64", ... as in the file
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;  ///< byte range in the data part
  std::uint64_t end = 0;
};

/// Bytes an element of this dtype takes; 0 if it is not a dtype of the format.
BCOS_API std::uint64_t dtype_size(std::string_view dtype);

/// An open file. The header has been checked; tensors are read on demand with pread.
class BCOS_API File {
 public:
  /// Throws Error(io) if it cannot be read, Error(corrupt) if the header is not acceptable.
  static File open(const std::string& path);
  ~File();
  File(File&&) noexcept;
  File& operator=(File&&) noexcept;

  const std::string& path() const;
  const std::vector<TensorInfo>& tensors() const;  ///< by offset
  const TensorInfo* find(std::string_view name) const;
  const std::map<std::string, std::string>& metadata() const;  ///< without the checksums

  /// Reads a whole tensor of this file; `out` has its size in bytes. Checks its CRC32C if the file
  /// carries checksums. A file that is cut meanwhile is Error(corrupt). Threads may read at once.
  void read(const TensorInfo& tensor, std::span<std::byte> out) const;

  /// Reads every tensor once and compares the checksums. Throws Error(corrupt) at the first miss.
  void verify() const;

  /// Whether the file carries checksums (files written here do, files of others do not).
  bool has_checksums() const;

 private:
  class BCOS_HIDDEN Impl;
  BCOS_HIDDEN explicit File(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A tensor to write. Data stay with the caller until write() returns.
struct TensorData {
  std::string name;
  std::string dtype;
  std::vector<std::uint64_t> shape;
  std::span<const std::byte> data;
};

/// Writes path by temporary file, fsync, rename and fsync of the directory, with a CRC32C a tensor
/// and one over the header in the metadata. Keys that begin with "crc32c" are reserved. Throws
/// Error(invalid_argument) before anything is written, Error(io) with the old file left in place.
BCOS_API void write(const std::string& path, std::span<const TensorData> tensors,
                    const std::map<std::string, std::string>& metadata);

/// CRC32C (Castagnoli) of data, continuing from `crc`.
BCOS_API std::uint32_t crc32c(std::span<const std::byte> data, std::uint32_t crc = 0);

}  // namespace bcos::safetensors
