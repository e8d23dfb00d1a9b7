#include "lab/data/data_file.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "bcos/safetensors.hpp"
#include "engine/error.hpp"
#include "engine/safetensors/file_io.hpp"

namespace bcos::lab::data {
namespace {

using safetensors::Descriptor;

constexpr std::string_view kWhere = "data";
constexpr std::size_t kPiece = 1 << 20;

Error changed(const std::string& path, std::uint64_t expected, std::uint64_t received) {
  return fail(ErrorCode::io, kWhere,
              "expected {} bytes in '{}', as when it was opened, but received {}: the file was "
              "changed while in use",
              expected, path, received);
}

Descriptor open_unchanged(const std::string& path, std::uint64_t size) {
  std::uint64_t now = 0;
  Descriptor file = safetensors::open_regular(kWhere, path, now);
  if (now != size) throw changed(path, size, now);
  return file;
}

void read_all(const Descriptor& file, std::uint64_t offset, std::span<std::byte> out,
              const DataFile& of) {
  const std::size_t count = safetensors::read_at(kWhere, file, offset, out, of.path());
  if (count != out.size()) throw changed(of.path(), of.size(), offset + count);
}

}  // namespace

DataFile::DataFile(std::string path) : path_(std::move(path)) {
  safetensors::open_regular(kWhere, path_, size_);
}

void DataFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset) {
    throw fail(ErrorCode::internal, kWhere, "expected a place in the {} bytes of '{}'", size_,
               path_);
  }
  read_all(open_unchanged(path_, size_), offset, out, *this);
}

std::string DataFile::beginning(std::uint64_t most) const {
  std::string bytes(std::min(most, size_), '\0');
  read(0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

std::string DataFile::text(std::uint64_t most) const {
  if (size_ > most) {
    throw fail(ErrorCode::corrupt, kWhere, "expected at most {} bytes in '{}' but received {}",
               most, path_, size_);
  }
  return beginning(size_);
}

FileFact DataFile::scan(std::uint64_t offset,
                        const std::function<void(std::span<const std::byte>)>& piece) const {
  const Descriptor file = open_unchanged(path_, size_);
  FileFact fact{path_, size_, 0};
  std::vector<std::byte> buffer(std::min<std::uint64_t>(std::max(offset, std::uint64_t{kPiece}),
                                                        std::max<std::uint64_t>(size_, 1)));
  const auto next = [&](std::uint64_t begin, std::uint64_t most) {
    const std::span<std::byte> part =
        std::span(buffer).first(std::min({most, size_ - begin, std::uint64_t{buffer.size()}}));
    read_all(file, begin, part, *this);
    fact.crc32c = safetensors::crc32c(part, fact.crc32c);
    return part;
  };
  offset = std::min(offset, size_);
  next(0, offset);
  for (std::uint64_t at = offset; at < size_;) {
    const auto part = next(at, kPiece);
    piece(part);
    at += part.size();
  }
  return fact;
}

FileFact DataFile::fact() const {
  return scan(0, [](std::span<const std::byte>) {});
}

FileFact fact_of(std::string path, std::string_view bytes) {
  return {std::move(path), bytes.size(), safetensors::crc32c(std::as_bytes(std::span(bytes)))};
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

bool path_exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

std::string_view packing_of(std::string_view beginning) {
  using namespace std::string_view_literals;
  constexpr std::pair<std::string_view, std::string_view> kPackings[] = {
      {"\x1f\x8b"sv, "gzip"}, {"\xfd\x37zXZ\0"sv, "xz"}, {"\x28\xb5\x2f\xfd"sv, "zstd"},
      {"BZh"sv, "bzip2"},     {"PK\x03\x04"sv, "zip"},   {"7z\xbc\xaf\x27\x1c"sv, "7z"},
  };
  for (const auto& [magic, name] : kPackings) {
    if (beginning.starts_with(magic)) return name;
  }
  return {};
}

}  // namespace bcos::lab::data
