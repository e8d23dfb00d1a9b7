#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// How checksums lie in the header (docs/formats.md, "Checksums").
namespace bcos::safetensors {

inline constexpr std::string_view kHeaderKey = "crc32c";          ///< of length and header
inline constexpr std::string_view kCountKey = "crc32c.tensors";   ///< how many tensors have one
inline constexpr std::string_view kTensorKeyPrefix = "crc32c:";   ///< of one tensor
inline constexpr std::string_view kReservedKeyPrefix = "crc32c";  ///< of all of these keys
inline constexpr std::string_view kBlankDigits = "00000000";

/// How every header with checksums begins; the header's own digits and a quote follow.
inline constexpr std::string_view kOpening = R"({"__metadata__":{"crc32c":")";

/// Whether the bytes, not yet parsed, begin as those of a file with checksums.
bool has_opening(std::string_view header);

/// The digits that belong into such a header: those there now count as blank.
std::string header_digits(std::string_view header);

/// A checksum as 8 lower-case hexadecimal digits, and back; false if it is not of that form.
std::string to_digits(std::uint32_t crc);
bool from_digits(std::string_view digits, std::uint32_t& crc);

/// The 8 bytes before a header of this size.
std::string length_bytes(std::uint64_t header_size);

}  // namespace bcos::safetensors
