#include "lab/data/token_files.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/error.hpp"

namespace bcos::lab::data {
namespace {

constexpr std::string_view kWhere = "tokens";

std::uint32_t id_at(const std::byte* bytes, std::uint64_t id_bytes) {
  std::uint32_t id = 0;
  for (std::uint64_t i = id_bytes; i-- > 0;)
    id = id << 8 | std::to_integer<std::uint32_t>(bytes[i]);
  return id;
}

struct Shard {
  DataFile file;
  TokenLayout layout;
  std::uint64_t begin = 0;  ///< the place of its first id in the whole list
};

class FileTokens : public Tokens {
 public:
  FileTokens(std::vector<Shard> shards, std::uint32_t largest)
      : shards_(std::move(shards)), largest_(largest) {
    size_ = shards_.back().begin + shards_.back().layout.count;
  }

  std::uint64_t size() const override { return size_; }
  std::uint32_t largest() const override { return largest_; }

  void read(std::uint64_t begin, std::span<std::int64_t> out) const override {
    if (begin > size_ || out.size() > size_ - begin) {
      throw fail(ErrorCode::internal, kWhere, "expected a part of {} tokens but received {} + {}",
                 size_, begin, out.size());
    }
    auto shard = std::upper_bound(shards_.begin(), shards_.end(), begin,
                                  [](std::uint64_t at, const Shard& s) { return at < s.begin; });
    --shard;
    while (!out.empty()) {
      const std::uint64_t inside = begin - shard->begin;
      const std::uint64_t count = std::min<std::uint64_t>(out.size(), shard->layout.count - inside);
      read_shard(*shard, inside, out.first(count));
      out = out.subspan(count);
      begin += count;
      ++shard;
    }
  }

 private:
  void read_shard(const Shard& shard, std::uint64_t begin, std::span<std::int64_t> out) const {
    std::array<std::byte, 8192> buffer;
    const std::uint64_t id_bytes = shard.layout.id_bytes;
    while (!out.empty()) {
      const std::uint64_t count = std::min<std::uint64_t>(out.size(), buffer.size() / id_bytes);
      shard.file.read(shard.layout.offset + begin * id_bytes,
                      std::span(buffer).first(count * id_bytes));
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint32_t id = id_at(buffer.data() + i * id_bytes, id_bytes);
        if (id > largest_) {
          throw fail(ErrorCode::io, kWhere,
                     "expected ids up to {} in '{}', as when it was opened, but received {}: the "
                     "file was changed while in use",
                     largest_, shard.file.path(), id);
        }
        out[i] = id;
      }
      out = out.subspan(count);
      begin += count;
    }
  }

  std::vector<Shard> shards_;
  std::uint32_t largest_;
  std::uint64_t size_;
};

/// Reads all of a shard; gives its fact and raises `largest`.
FileFact check_ids(const Shard& shard, std::uint64_t vocabulary, std::uint32_t& largest) {
  const std::uint64_t id_bytes = shard.layout.id_bytes;
  std::uint64_t place = 0;
  return shard.file.scan(shard.layout.offset, [&](std::span<const std::byte> piece) {
    for (std::size_t i = 0; i < piece.size(); i += id_bytes, ++place) {
      const std::uint32_t id = id_at(piece.data() + i, id_bytes);
      if (id >= vocabulary) {
        throw fail(ErrorCode::corrupt, kWhere,
                   "expected ids below the vocabulary size {} but received {} at token {} of '{}'; "
                   "another vocabulary size, or not a token file?",
                   vocabulary, id, place, shard.file.path());
      }
      largest = std::max(largest, id);
    }
  });
}

}  // namespace

OpenedTokens open_tokens(const std::vector<std::string>& paths, std::uint64_t vocabulary) {
  if (paths.empty()) throw fail(kWhere, "expected at least one token file but received none");
  std::vector<Shard> shards;
  std::uint64_t size = 0;
  for (const std::string& path : paths) {
    DataFile file(path);
    const TokenLayout layout = token_layout(file);
    if (!shards.empty() && layout.format != shards.front().layout.format) {
      throw fail(ErrorCode::mismatch, kWhere, "expected {} in '{}', as in '{}', but received {}",
                 name_of(shards.front().layout.format), path, shards.front().file.path(),
                 name_of(layout.format));
    }
    shards.push_back({std::move(file), layout, size});
    size += layout.count;
  }
  OpenedTokens opened;
  opened.format = shards.front().layout.format;
  if (vocabulary == 0) vocabulary = usual_vocabulary(opened.format);
  std::uint32_t largest = 0;
  for (const Shard& shard : shards) {
    opened.files.push_back(check_ids(shard, vocabulary, largest));
  }
  opened.tokens = std::make_unique<FileTokens>(std::move(shards), largest);
  return opened;
}

}  // namespace bcos::lab::data
