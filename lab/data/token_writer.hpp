#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bcos::lab::data {

/// Writes ids as llm.c's token files (uint16). A shard is kept in memory until it is full, then it
/// appears under its name whole.
class TokenWriter {
 public:
  /// `path` is "folder/name.bin". With tokens_per_shard = 0 all goes into this file, at most 2^31 -
  /// 1 tokens; else the files are "folder/name_000000.bin" and so on. Throws Error(io) if there are
  /// such shards already: a reader could not tell the old from the new.
  explicit TokenWriter(std::string path, std::uint64_t tokens_per_shard = 0);

  /// Throws Error for an id above 65535, and Error(io).
  void append(std::span<const std::uint32_t> ids);
  /// Writes what is left. To be called once, at the end; without it the last shard is not written.
  void finish();

  const std::vector<std::string>& paths() const { return paths_; }
  std::uint64_t tokens() const { return tokens_; }

 private:
  std::string shard_path(std::uint64_t index) const;
  void write_shard();

  std::string path_;
  std::uint64_t tokens_per_shard_;
  std::vector<std::uint16_t> shard_;
  std::vector<std::string> paths_;
  std::uint64_t tokens_ = 0;
};

}  // namespace bcos::lab::data
