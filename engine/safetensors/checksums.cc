#include "engine/safetensors/checksums.hpp"

#include <fmt/format.h>

#include "bcos/safetensors.hpp"

namespace bcos::safetensors {
namespace {

std::uint32_t crc_of(std::string_view text, std::uint32_t crc) {
  return crc32c(std::as_bytes(std::span(text)), crc);
}

}  // namespace

bool has_opening(std::string_view header) {
  const std::size_t quote = kOpening.size() + kBlankDigits.size();
  return header.size() > quote && header.starts_with(kOpening) && header[quote] == '"';
}

std::string header_digits(std::string_view header) {
  std::uint32_t crc = crc_of(length_bytes(header.size()), 0);
  crc = crc_of(kOpening, crc);
  crc = crc_of(kBlankDigits, crc);
  crc = crc_of(header.substr(kOpening.size() + kBlankDigits.size()), crc);
  return to_digits(crc);
}

std::string to_digits(std::uint32_t crc) { return fmt::format("{:08x}", crc); }

bool from_digits(std::string_view digits, std::uint32_t& crc) {
  if (digits.size() != kBlankDigits.size()) return false;
  crc = 0;
  for (const char digit : digits) {
    const std::size_t value = std::string_view("0123456789abcdef").find(digit);
    if (value == std::string_view::npos) return false;
    crc = crc << 4 | static_cast<std::uint32_t>(value);
  }
  return true;
}

std::string length_bytes(std::uint64_t header_size) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(header_size >> (8 * i) & 0xff);
  return bytes;
}

}  // namespace bcos::safetensors
