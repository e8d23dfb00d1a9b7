#include "lab/commands/inspect/tensor_stats.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

namespace bcos::lab::commands {
namespace {

class TensorStatsTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  template <class T>
  std::optional<TensorStats> stats(const char* dtype, const std::vector<T>& values) {
    const safetensors::TensorData data{
        "t", dtype, {values.size()}, std::as_bytes(std::span(values))};
    safetensors::write(path_, {&data, 1}, {});
    const auto file = safetensors::File::open(path_);
    return tensor_stats(file, *file.find("t"));
  }

 private:
  std::string path_ = ::testing::TempDir() + "bcos_stats_" +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                      ".safetensors";
};

TEST_F(TensorStatsTest, AreOfAllNumbers) {
  const auto result = stats<float>("F32", {3, -4, 0, 0});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->least, -4);
  EXPECT_EQ(result->most, 3);
  EXPECT_DOUBLE_EQ(result->rms, 2.5);
  EXPECT_EQ(result->finite, 4U);
}

TEST_F(TensorStatsTest, DoNotOverflow) {
  const auto result = stats<double>("F64", {1e300, -1e300});
  ASSERT_TRUE(result);
  EXPECT_DOUBLE_EQ(result->rms, 1e300);
}

TEST_F(TensorStatsTest, CountWhatIsNotFinite) {
  const auto result =
      stats<float>("F32", {1, std::nanf(""), -std::numeric_limits<float>::infinity()});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->finite, 1U);
  EXPECT_EQ(result->not_finite, 2U);
  EXPECT_EQ(result->rms, 1);
}

TEST_F(TensorStatsTest, AreNotMadeOfIntegers) { EXPECT_FALSE(stats<std::int64_t>("I64", {1, 2})); }

}  // namespace
}  // namespace bcos::lab::commands
