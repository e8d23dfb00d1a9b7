#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "lab/run/checkpoint_manifest.hpp"
#include "tests/lab/run/checkpoints.hpp"

namespace bcos::lab::run {
namespace {

using safetensors::contains;
using safetensors::error_of;
using safetensors::get;
using safetensors::put;

class ADamagedCheckpoint : public Checkpoints {
 protected:
  ADamagedCheckpoint() {
    CheckpointStore store(path_, 5);
    save(store, 1);
    save(store, 2);
  }

  std::string newest(const std::string& name) const { return step_path("00000002/" + name); }

  /// Whether the damage to a file of step 2 is seen, said, and step 1 is used.
  void expect_passed_over(const std::string& what) {
    ASSERT_EQ(latest(), 1) << what;
    ASSERT_EQ(complaints_.size(), 1U) << what;
    EXPECT_TRUE(contains(complaints_[0], "'" + step_path("00000002"))) << complaints_[0];
  }

  /// A manifest with a checksum that fits.
  static std::string resealed(std::string text) {
    const std::size_t place = text.size() - 12;
    text.replace(place, 8, "00000000");
    return text.replace(place, 8,
                        fmt::format("{:08x}", safetensors::crc32c(std::as_bytes(std::span(text)))));
  }

  std::string manifest_with(const std::string& from, const std::string& to) const {
    std::string text = get(newest(kManifestName));
    EXPECT_TRUE(contains(text, from));
    return resealed(text.replace(text.find(from), from.size(), to));
  }

  static constexpr const char* kFiles[] = {kManifestName, kModel, kState};
};

TEST_F(ADamagedCheckpoint, OfAnyCutFileIsPassedOver) {
  for (const char* name : kFiles) {
    const std::string whole = get(newest(name));
    for (std::size_t size = 0; size < whole.size(); ++size) {
      put(newest(name), whole.substr(0, size));
      expect_passed_over(fmt::format("{} cut to {}", name, size));
    }
    put(newest(name), whole + "x");
    expect_passed_over(fmt::format("{} with a byte more", name));
    put(newest(name), whole);
  }
  EXPECT_EQ(latest(), 2);
}

TEST_F(ADamagedCheckpoint, OfOneFlippedBitIsPassedOver) {
  for (const char* name : kFiles) {
    const std::string whole = get(newest(name));
    // Every byte or its neighbour, and every place in a byte.
    for (std::size_t bit = 0; bit < whole.size() * 8; bit += 11) {
      std::string flipped = whole;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      put(newest(name), flipped);
      expect_passed_over(fmt::format("{} with bit {} flipped", name, bit));
    }
    put(newest(name), whole);
  }
}

TEST_F(ADamagedCheckpoint, OfManyFlippedBitsIsPassedOver) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    const char* name = kFiles[random() % 3];
    const std::string whole = get(newest(name));
    std::string flipped = whole;
    for (std::size_t count = 1 + random() % 20; count > 0; --count) {
      char& byte = flipped[random() % flipped.size()];
      byte = static_cast<char>(byte ^ (1 << (random() % 8)));
    }
    if (flipped == whole) continue;
    put(newest(name), flipped);
    expect_passed_over(name);
    put(newest(name), whole);
  }
}

TEST_F(ADamagedCheckpoint, WithAFileMissingIsPassedOver) {
  for (const char* name : kFiles) {
    const std::string whole = get(newest(name));
    std::filesystem::remove(newest(name));
    expect_passed_over(name);
    put(newest(name), whole);
  }
}

TEST_F(ADamagedCheckpoint, WithTheFilesOfAnotherIsPassedOver) {
  put(newest(kModel), get(step_path("00000001/model.safetensors")));
  expect_passed_over("the model of step 1");
}

TEST_F(ADamagedCheckpoint, IsRefusedWhenAskedForByName) {
  put(newest(kModel), get(newest(kModel)) + "x");
  const Error error = error_of([&] { read_checkpoint(step_path("00000002")); });
  EXPECT_EQ(error.code(), ErrorCode::corrupt);
  EXPECT_TRUE(contains(error.what(), "'" + newest(kModel) + "'")) << error.what();
}

TEST_F(ADamagedCheckpoint, AmongDamagedOnesLeavesNoneAndSaysWhy) {
  put(newest(kModel), "");
  put(step_path("00000001/state.safetensors"), "");
  EXPECT_EQ(latest(), -1);
  EXPECT_EQ(complaints_.size(), 2U);
}

TEST_F(ADamagedCheckpoint, ThatWasTheBestGivesWayToTheBestBefore) {
  CheckpointStore store(path_, 5);
  save(store, 3, true);
  save(store, 4, true);
  EXPECT_EQ(best(), 4);
  put(step_path("00000004/model.safetensors"), "");
  EXPECT_EQ(best(), 3);
  EXPECT_EQ(complaints_.size(), 1U);
}

TEST_F(ADamagedCheckpoint, WithAHostileManifestIsPassedOver) {
  const std::vector<std::pair<std::string, std::string>> replacements = {
      {"\"model.safetensors\"", "\"../../../etc/passwd\""},
      {"\"model.safetensors\"", "17"},
      {"\"step\": 2", "\"step\": -2"},
      {"\"step\": 2", "\"step\": 2.0"},
      {"\"step\": 2", "\"step\": 18446744073709551616"},
      {"\"best\": false", "\"best\": 0"},
      {"\"files\"", "\"fields\""},
      {"\"bcos checkpoint\"", "\"a poem\""},
      {"\"seed\": 7", "\"seed\": " + std::string(100'000, '[') + std::string(100'000, ']')},
      {"\"crc32c\": \"", "\"crc32c\": \"x"}};
  const std::string whole = get(newest(kManifestName));
  for (const auto& [from, to] : replacements) {
    put(newest(kManifestName), manifest_with(from, to));
    expect_passed_over(to.substr(0, 40));
    put(newest(kManifestName), whole);
  }
  EXPECT_EQ(latest(), 2);
}

TEST_F(ADamagedCheckpoint, IsToldFromOneOfANewerFormat) {
  put(newest(kManifestName), manifest_with("\"version\": 1", "\"version\": 2"));
  const Error error = error_of([&] { latest_checkpoint(path_, complaints_); });
  EXPECT_EQ(error.code(), ErrorCode::mismatch);
  EXPECT_TRUE(
      contains(error.what(), "version 1 but received version 2 in '" + newest(kManifestName) + "'"))
      << error.what();
  CheckpointStore store(path_, 1);
  EXPECT_THROW(save(store, 2), Error);
  save(store, 3);
  EXPECT_TRUE(std::filesystem::exists(newest(kManifestName))) << "not ours to remove";
}

}  // namespace
}  // namespace bcos::lab::run
