#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bcos::lab::data {

bool is_gzip(std::string_view beginning);

/// The first `most` bytes that gzip data unpacks to, or all if there are fewer. Never holds more
/// than that. Throws Error(corrupt), naming `path`, for data that is damaged or cut before then.
std::string unpacked(std::string_view packed, std::uint64_t most, const std::string& path);

/// No gzip data unpacks to more than about this many times its size.
inline constexpr std::uint64_t kGzipRatio = 1040;

}  // namespace bcos::lab::data
