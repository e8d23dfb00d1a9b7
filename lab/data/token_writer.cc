#include "lab/data/token_writer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "engine/error.hpp"
#include "engine/safetensors/atomic_file.hpp"
#include "lab/data/data_file.hpp"
#include "lab/data/token_files.hpp"

namespace bcos::lab::data {
namespace {

constexpr std::string_view kWhere = "write_tokens";

static_assert(std::endian::native == std::endian::little, "ids are written as they lie in memory");

}  // namespace

TokenWriter::TokenWriter(std::string path, std::uint64_t tokens_per_shard)
    : path_(std::move(path)), tokens_per_shard_(tokens_per_shard) {
  if (!path_.ends_with(".bin")) {
    throw fail(kWhere, "expected a name that ends in .bin but received '{}'", path_);
  }
  if (tokens_per_shard_ > kMostTokensAFile) {
    throw fail(kWhere, "expected at most {} tokens a shard but received {}", kMostTokensAFile,
               tokens_per_shard_);
  }
  if (tokens_per_shard_ > 0 && path_exists(shard_path(0))) {
    throw fail(ErrorCode::io, kWhere,
               "expected no shards of this name yet but received '{}'; remove them or choose "
               "another name",
               shard_path(0));
  }
}

std::string TokenWriter::shard_path(std::uint64_t index) const {
  if (tokens_per_shard_ == 0) return path_;
  return fmt::format("{}_{:06}.bin", path_.substr(0, path_.size() - 4), index);
}

void TokenWriter::append(std::span<const std::uint32_t> ids) {
  const std::uint64_t most = tokens_per_shard_ > 0 ? tokens_per_shard_ : kMostTokensAFile;
  for (const std::uint32_t id : ids) {
    if (id > UINT16_MAX) {
      throw fail(kWhere, "expected ids up to 65535 but received {}", id);
    }
    if (shard_.size() == most) {
      if (tokens_per_shard_ == 0) {
        throw fail(kWhere, "expected at most {} tokens in '{}'; write shards instead", most, path_);
      }
      write_shard();
    }
    shard_.push_back(static_cast<std::uint16_t>(id));
    ++tokens_;
  }
}

void TokenWriter::finish() {
  if (!shard_.empty() || paths_.empty()) write_shard();
}

void TokenWriter::write_shard() {
  std::array<std::uint32_t, kTokenHeaderBytes / 4> header{};
  header[0] = kGpt2Mark.magic;
  header[1] = kGpt2Mark.version;
  header[2] = static_cast<std::uint32_t>(shard_.size());
  const std::string path = shard_path(paths_.size());
  const auto ids = std::as_bytes(std::span(shard_));
  safetensors::AtomicFile file(kWhere, path, kTokenHeaderBytes + ids.size());
  file.append(std::as_bytes(std::span(header)));
  file.append(ids);
  file.commit();
  paths_.push_back(path);
  shard_.clear();
}

}  // namespace bcos::lab::data
