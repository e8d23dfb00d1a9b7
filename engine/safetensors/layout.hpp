#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// What reader and writer agree on about names, shapes and limits.
namespace bcos::safetensors {

inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
inline constexpr std::size_t kMaxNameBytes = 4096;
inline constexpr std::size_t kMaxRank = 64;
inline constexpr std::uint64_t kMaxNumber = INT64_MAX;  ///< of a size or an offset
inline constexpr std::string_view kMetadata = "__metadata__";

/// Bytes of a tensor; nullopt if they do not fit 64 bits, a size of 0 elsewhere notwithstanding.
std::optional<std::uint64_t> shape_bytes(std::span<const std::uint64_t> shape,
                                         std::uint64_t element_bytes);

/// What is wrong with a tensor's name, empty if nothing. Tools use names as paths, so absolute
/// names and ".." components are refused too.
std::string_view name_problem(std::string_view name);

bool is_utf8(std::string_view text);

/// Text of unknown origin for a message: quoted, escaped to ASCII, cut.
std::string in_quotes(std::string_view text);

}  // namespace bcos::safetensors
