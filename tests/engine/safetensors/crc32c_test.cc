#include "engine/safetensors/crc32c.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

#include "bcos/safetensors.hpp"

namespace bcos::safetensors {
namespace {

std::vector<std::byte> counting(int from, int step) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < 32; ++i) bytes.push_back(static_cast<std::byte>(from + i * step));
  return bytes;
}

TEST(Crc32c, GivesTheValuesOfRfc3720) {
  EXPECT_EQ(crc32c(std::vector(32, std::byte{0})), 0x8a9136aaU);
  EXPECT_EQ(crc32c(std::vector(32, std::byte{0xff})), 0x62a8ab43U);
  EXPECT_EQ(crc32c(counting(0, 1)), 0x46dd794eU);
  EXPECT_EQ(crc32c(counting(31, -1)), 0x113fdb5cU);
}

TEST(Crc32c, GivesTheCheckValueOfTheCatalogue) {
  EXPECT_EQ(crc32c(std::as_bytes(std::span(std::string_view("123456789")))), 0xe3069283U);
}

TEST(Crc32c, OfNothingIsWhatItContinuesFrom) {
  EXPECT_EQ(crc32c({}), 0U);
  EXPECT_EQ(crc32c({}, 0x12345678U), 0x12345678U);
}

TEST(Crc32c, IsTheSameByInstructionAndByTable) {
  if (!has_crc32c_instruction()) GTEST_SKIP() << "this CPU has no such instruction";
  std::mt19937 random(1);
  std::vector<std::byte> bytes(5000);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  const std::span<const std::byte> all(bytes);
  for (std::size_t size = 0; size < 100; ++size) {
    for (std::size_t start = 0; start < 8; ++start) {
      const auto part = all.subspan(start, size);
      EXPECT_EQ(crc32c_instruction(part, 0), crc32c_table(part, 0)) << size << " at " << start;
    }
  }
  for (int i = 0; i < 1000; ++i) {
    const std::size_t start = random() % bytes.size();
    const auto part = all.subspan(start, random() % (bytes.size() - start));
    const auto from = static_cast<std::uint32_t>(random());
    EXPECT_EQ(crc32c_instruction(part, from), crc32c_table(part, from));
  }
}

TEST(Crc32c, ContinuesAcrossAnyCut) {
  std::mt19937 random(2);
  std::vector<std::byte> bytes(100);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  const std::span<const std::byte> all(bytes);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(crc32c(all.subspan(cut), crc32c(all.first(cut))), crc32c(all));
    EXPECT_EQ(crc32c_table(all.subspan(cut), crc32c_table(all.first(cut), 0)), crc32c(all));
  }
}

}  // namespace
}  // namespace bcos::safetensors
