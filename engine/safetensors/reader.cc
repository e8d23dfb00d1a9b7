#include <algorithm>
#include <array>
#include <utility>

#include "bcos/safetensors.hpp"
#include "engine/error.hpp"
#include "engine/safetensors/checksums.hpp"
#include "engine/safetensors/file_io.hpp"
#include "engine/safetensors/header.hpp"
#include "engine/safetensors/layout.hpp"

namespace bcos::safetensors {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

// read_at() for bytes that were there when the file was opened.
void read_exactly(std::string_view function, const Descriptor& file, std::uint64_t offset,
                  std::span<std::byte> out, const std::string& path) {
  const std::size_t count = read_at(function, file, offset, out, path);
  if (count == out.size()) return;
  throw fail(ErrorCode::corrupt, function,
             "expected {} bytes at byte {} but received {}: the file was cut while open in '{}'",
             out.size(), offset, count, path);
}

std::uint64_t read_header_length(const Descriptor& file, std::uint64_t file_bytes,
                                 const std::string& path) {
  if (file_bytes < kLengthBytes + 2) {
    throw fail(ErrorCode::corrupt, "safetensors::open",
               "expected at least 10 bytes but received {} in '{}'", file_bytes, path);
  }
  std::array<std::byte, kLengthBytes> bytes;
  read_exactly("safetensors::open", file, 0, bytes, path);
  std::uint64_t length = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    length = length << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  }
  const std::uint64_t most = std::min(kMaxHeaderBytes, file_bytes - kLengthBytes);
  if (length < 2 || length > most) {
    throw fail(ErrorCode::corrupt, "safetensors::open",
               "expected a header length of 2 to {} but received {} in '{}'", most, length, path);
  }
  return length;
}

}  // namespace

class File::Impl {
 public:
  explicit Impl(const std::string& path) : path_(path) {
    std::uint64_t file_bytes = 0;
    file_ = open_regular("safetensors::open", path, file_bytes);
    const std::uint64_t length = read_header_length(file_, file_bytes, path);
    data_start_ = kLengthBytes + length;
    std::string text(length, '\0');
    read_exactly("safetensors::open", file_, kLengthBytes, std::as_writable_bytes(std::span(text)),
                 path);
    try {
      header_ = parse_header(text, file_bytes - data_start_);
    } catch (const Malformed& problem) {
      throw fail(ErrorCode::corrupt, "safetensors::open", "{} in '{}'", problem.what(), path);
    }
  }

  const std::string& path() const { return path_; }
  const Header& header() const { return header_; }

  /// Reads the tensor piece by piece, each to where `place(offset, size)` says, and compares the
  /// checksum.
  template <class Place>
  void read(std::string_view function, std::size_t index, Place place) const {
    const TensorInfo& tensor = header_.tensors[index];
    std::uint32_t crc = 0;
    for (std::uint64_t at = tensor.begin; at < tensor.end;) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(tensor.end - at, kChunkBytes));
      const std::span<std::byte> out = place(static_cast<std::size_t>(at - tensor.begin), size);
      read_exactly(function, file_, data_start_ + at, out, path_);
      if (header_.has_checksums) crc = crc32c(out, crc);
      at += size;
    }
    if (header_.has_checksums && crc != header_.checksums[index]) {
      throw fail(ErrorCode::corrupt, function,
                 "expected CRC32C {} of tensor {} but received {}: the data are damaged in '{}'",
                 to_digits(header_.checksums[index]), in_quotes(tensor.name), to_digits(crc),
                 path_);
    }
  }

 private:
  std::string path_;
  Descriptor file_;
  std::uint64_t data_start_ = 0;
  Header header_;
};

File::File(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
File::~File() = default;
File::File(File&&) noexcept = default;
File& File::operator=(File&&) noexcept = default;

File File::open(const std::string& path) { return File(std::make_unique<Impl>(path)); }

const std::string& File::path() const { return impl_->path(); }
const std::vector<TensorInfo>& File::tensors() const { return impl_->header().tensors; }
bool File::has_checksums() const { return impl_->header().has_checksums; }

const std::map<std::string, std::string>& File::metadata() const {
  return impl_->header().metadata;
}

const TensorInfo* File::find(std::string_view name) const {
  const std::size_t index = impl_->header().find(name);
  return index < tensors().size() ? &tensors()[index] : nullptr;
}

void File::read(const TensorInfo& tensor, std::span<std::byte> out) const {
  const std::size_t index = impl_->header().find(tensor.name);
  if (index == tensors().size() || tensors()[index].begin != tensor.begin ||
      tensors()[index].end != tensor.end) {
    throw fail("safetensors::read", "expected a tensor of this file but received {} in '{}'",
               in_quotes(tensor.name), path());
  }
  if (out.size() != tensor.end - tensor.begin) {
    throw fail("safetensors::read", "expected room for {} bytes of {} but received {} in '{}'",
               tensor.end - tensor.begin, in_quotes(tensor.name), out.size(), path());
  }
  impl_->read("safetensors::read", index,
              [&](std::size_t offset, std::size_t size) { return out.subspan(offset, size); });
}

void File::verify() const {
  std::uint64_t largest = 0;
  for (const TensorInfo& tensor : tensors()) largest = std::max(largest, tensor.end - tensor.begin);
  std::vector<std::byte> buffer(std::min<std::uint64_t>(largest, kChunkBytes));
  for (std::size_t i = 0; i < tensors().size(); ++i) {
    impl_->read("safetensors::verify", i,
                [&](std::size_t, std::size_t size) { return std::span(buffer).first(size); });
  }
}

}  // namespace bcos::safetensors
