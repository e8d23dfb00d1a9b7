#include "lab/data/gzip.hpp"

#include <zlib.h>

#include <algorithm>

#include "engine/error.hpp"

namespace bcos::lab::data {
namespace {

constexpr std::size_t kChunk = 1 << 20;
constexpr int kGzipOnly = 16 + MAX_WBITS;

class Inflater {
 public:
  Inflater() {
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) {
      throw fail(ErrorCode::out_of_memory, "gzip", "expected memory for zlib");
    }
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

}  // namespace

bool is_gzip(std::string_view beginning) { return beginning.starts_with("\x1f\x8b"); }

std::string unpacked(std::string_view packed, std::uint64_t most, const std::string& path) {
  Inflater inflater;
  z_stream& stream = inflater.stream();
  std::string out;
  int code = Z_OK;
  while (out.size() < most) {
    if (stream.avail_in == 0) {
      const std::size_t count = std::min(kChunk, packed.size());
      // zlib's own type; it does not write here.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
      stream.avail_in = static_cast<uInt>(count);
      packed.remove_prefix(count);
    }
    const std::size_t before = out.size();
    const std::size_t room = std::min<std::uint64_t>(kChunk, most - before);
    out.resize(before + room);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream.avail_out = static_cast<uInt>(room);
    code = inflate(&stream, Z_NO_FLUSH);
    out.resize(before + room - stream.avail_out);
    const bool at_end = stream.avail_in == 0 && packed.empty();
    if (code == Z_STREAM_END) {
      if (at_end) break;
      inflateReset(&stream);  // gzip files may be joined
      continue;
    }
    if (code != Z_OK || (at_end && stream.avail_out > 0)) {
      throw fail(ErrorCode::corrupt, "gzip", "expected whole gzip data in '{}' but received {}",
                 path, code == Z_OK || code == Z_BUF_ERROR ? "a cut file" : "a damaged one");
    }
  }
  return out;
}

}  // namespace bcos::lab::data
