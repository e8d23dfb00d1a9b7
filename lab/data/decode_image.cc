#include "lab/data/decode_image.hpp"

#include <memory>

#include "engine/error.hpp"

// Alone here, where its functions have no name outside.
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_MAX_DIMENSIONS (1 << 16)
#include <stb/stb_image.h>

namespace bcos::lab::data {
namespace {

constexpr std::string_view kWhere = "image";
constexpr std::string_view kJpegStart = "\xff\xd8\xff";
constexpr std::string_view kPngStart = "\x89PNG\r\n\x1a\n";

// Photographs have a byte for ten pixels or fewer: far beyond that a file is a trap for memory.
constexpr std::uint64_t kFreePixels = std::uint64_t{1} << 22;
constexpr std::uint64_t kPixelsAByte = 64;

unsigned byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

/// The Huffman tables in a segment, which the decoder believes to have at most 256 entries each.
bool are_sound_tables(std::string_view segment) {
  constexpr std::size_t kCounts = 17;  // after the table's number, the codes of each length
  while (segment.size() >= kCounts) {
    std::size_t entries = 0;
    for (std::size_t i = 1; i < kCounts; ++i) entries += byte_at(segment, i);
    if (entries > 256 || entries > segment.size() - kCounts) return false;
    segment.remove_prefix(kCounts + entries);
  }
  return segment.empty();
}

enum class Verdict { sound, cut, damaged };

/// Whether the end-of-image marker comes: the decoder would fill up what is missing. Walks from
/// segment to segment, for a thumbnail inside one has an end of its own.
Verdict jpeg_verdict(std::string_view bytes) {
  constexpr unsigned kTables = 0xc4;
  constexpr unsigned kEnd = 0xd9;
  constexpr unsigned kScan = 0xda;
  std::size_t at = 2;
  bool in_scan = false;
  while (at + 1 < bytes.size()) {
    const unsigned marker = byte_at(bytes, at + 1);
    const bool data = byte_at(bytes, at) != 0xff || marker == 0 || marker == 0xff ||
                      (marker >= 0xd0 && marker <= 0xd7);
    if (data) {
      // Between segments only fill bytes and stray ones, as the decoder has it as well.
      at += in_scan && byte_at(bytes, at) == 0xff && marker != 0xff ? 2 : 1;
      continue;
    }
    if (marker == kEnd) return Verdict::sound;
    if (at + 3 >= bytes.size()) return Verdict::cut;
    const std::size_t length = byte_at(bytes, at + 2) << 8 | byte_at(bytes, at + 3);
    if (length < 2) return Verdict::damaged;
    if (length > bytes.size() - at - 2) return Verdict::cut;
    if (marker == kTables && !are_sound_tables(bytes.substr(at + 4, length - 2))) {
      return Verdict::damaged;
    }
    at += 2 + length;
    in_scan = marker == kScan;
  }
  return Verdict::cut;
}

/// Whether every chunk up to the end chunk is there.
Verdict png_verdict(std::string_view bytes) {
  std::uint64_t at = kPngStart.size();
  while (at + 12 <= bytes.size()) {
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | byte_at(bytes, at + i);
    if (length > bytes.size() - at - 12) return Verdict::cut;
    if (bytes.substr(at + 4, 4) == "IEND") return Verdict::sound;
    at += 12 + length;
  }
  return Verdict::cut;
}

struct Free {
  void operator()(stbi_uc* pixels) const { stbi_image_free(pixels); }
};

}  // namespace

void check_image_start(std::string_view bytes, const std::string& path) {
  if (bytes.starts_with(kJpegStart) || bytes.starts_with(kPngStart)) return;
  throw fail(ErrorCode::corrupt, kWhere, "expected a JPEG or PNG image in '{}' but received {}",
             path, bytes.empty() ? "an empty file" : "something else");
}

RgbImage decode_image(std::string_view bytes, const std::string& path) {
  check_image_start(bytes, path);
  const bool jpeg = bytes.starts_with(kJpegStart);
  if (bytes.size() > INT32_MAX) {
    throw fail(ErrorCode::corrupt, kWhere, "expected at most 2 GiB in '{}' but received {} bytes",
               path, bytes.size());
  }
  if (const Verdict verdict = jpeg ? jpeg_verdict(bytes) : png_verdict(bytes);
      verdict != Verdict::sound) {
    throw fail(ErrorCode::corrupt, kWhere,
               "expected a whole {} image in '{}' but received a {} one", jpeg ? "JPEG" : "PNG",
               path, verdict == Verdict::cut ? "cut" : "damaged");
  }
  const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
  const int size = static_cast<int>(bytes.size());
  RgbImage image;
  int channels = 0;
  if (stbi_info_from_memory(data, size, &image.width, &image.height, &channels) == 0) {
    throw fail(ErrorCode::corrupt, kWhere, "expected a JPEG or PNG image in '{}' but received: {}",
               path, stbi_failure_reason());
  }
  const std::uint64_t pixels =
      static_cast<std::uint64_t>(image.width) * static_cast<std::uint64_t>(image.height);
  if (pixels > kFreePixels + kPixelsAByte * bytes.size()) {
    throw fail(
        ErrorCode::corrupt, kWhere,
        "expected an image of plausible size in '{}' but received {} x {} pixels in {} bytes", path,
        image.width, image.height, bytes.size());
  }
  const std::unique_ptr<stbi_uc, Free> decoded(
      stbi_load_from_memory(data, size, &image.width, &image.height, &channels, 3));
  if (!decoded) {
    throw fail(ErrorCode::corrupt, kWhere, "expected a sound image in '{}' but received: {}", path,
               stbi_failure_reason());
  }
  image.pixels.assign(decoded.get(), decoded.get() + 3 * pixels);
  return image;
}

}  // namespace bcos::lab::data
