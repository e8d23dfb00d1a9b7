#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// The two ways behind crc32c(), apart for the tests. Both take and give the finished checksum.
namespace bcos::safetensors {

std::uint32_t crc32c_table(std::span<const std::byte> data, std::uint32_t crc);

/// By the CPU's own instruction; only where has_crc32c_instruction().
std::uint32_t crc32c_instruction(std::span<const std::byte> data, std::uint32_t crc);
bool has_crc32c_instruction();

}  // namespace bcos::safetensors
