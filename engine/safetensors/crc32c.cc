#include "engine/safetensors/crc32c.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "bcos/safetensors.hpp"

namespace bcos::safetensors {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // Castagnoli's, bits reversed

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// tables[k][b] is what byte b does to the checksum when k zero bytes follow it.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

std::uint64_t load_word(const std::byte* from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

}  // namespace

std::uint32_t crc32c_table(std::span<const std::byte> data, std::uint32_t crc) {
  crc = ~crc;
  std::size_t i = 0;
  for (; data.size() - i >= 8; i += 8) {
    const std::uint64_t word = load_word(data.data() + i) ^ crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (; i < data.size(); ++i) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ std::to_integer<std::uint32_t>(data[i])) & 0xff];
  }
  return ~crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) std::uint32_t crc32c_instruction(std::span<const std::byte> data,
                                                                   std::uint32_t crc) {
  std::uint64_t state = static_cast<std::uint32_t>(~crc);
  std::size_t i = 0;
  for (; data.size() - i >= 8; i += 8) {
    state = __builtin_ia32_crc32di(state, load_word(data.data() + i));
  }
  auto last = static_cast<std::uint32_t>(state);
  for (; i < data.size(); ++i) {
    last = __builtin_ia32_crc32qi(last, std::to_integer<unsigned char>(data[i]));
  }
  return ~last;
}

bool has_crc32c_instruction() { return __builtin_cpu_supports("sse4.2") != 0; }

#else

std::uint32_t crc32c_instruction(std::span<const std::byte> data, std::uint32_t crc) {
  return crc32c_table(data, crc);
}

bool has_crc32c_instruction() { return false; }

#endif

std::uint32_t crc32c(std::span<const std::byte> data, std::uint32_t crc) {
  static const auto best = has_crc32c_instruction() ? crc32c_instruction : crc32c_table;
  return best(data, crc);
}

}  // namespace bcos::safetensors
