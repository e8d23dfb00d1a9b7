#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bcos::lab::data {

/// Red, green and blue bytes of every pixel, row after row.
struct RgbImage {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;
};

/// Throws Error(corrupt), naming `path`, unless a file that begins so can be a JPEG or PNG image.
void check_image_start(std::string_view bytes, const std::string& path);
inline constexpr std::uint64_t kImageStart = 8;  ///< bytes that this looks at

/// JPEG or PNG, by content; grey and CMYK become RGB, transparency and EXIF are ignored. Throws
/// Error(corrupt), naming `path`, for anything else, for a file that is cut, and for one whose size
/// in pixels is out of proportion to its bytes.
RgbImage decode_image(std::string_view bytes, const std::string& path);

/// Shrunk or enlarged until the shorter side is `size`, then cut to its middle: size x size,
/// channel after channel. Bilinear, over all pixels that a result covers.
void fit_square(const RgbImage& image, int size, std::uint8_t* chw);

}  // namespace bcos::lab::data
