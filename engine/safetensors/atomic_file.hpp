#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/safetensors/file_io.hpp"

namespace bcos::safetensors {

/// A file that appears under its name wholly or not at all: written beside it as
/// "<path>.tmp-<pid>-<number>", forced to disk, renamed. All failures are Error(io).
class AtomicFile {
 public:
  static constexpr std::string_view kTemporary = ".tmp-";

  /// `bytes` is what will be written in all, for the message about a full disk.
  AtomicFile(std::string_view function, const std::string& path, std::uint64_t bytes);
  /// Removes the temporary file unless commit() has renamed it.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void append(std::span<const std::byte> data);
  void commit();

 private:
  void open_directory();
  void open_temporary();
  void flush();
  void write_all(std::span<const std::byte> data);
  Error error(std::string_view operation, int code) const;

  std::string function_;
  std::string path_;
  std::string temporary_;  // empty while there is none to remove
  std::uint64_t bytes_;
  Descriptor directory_;
  Descriptor file_;
  std::vector<std::byte> buffer_;  // many small tensors make few writes
};

}  // namespace bcos::safetensors
