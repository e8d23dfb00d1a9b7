#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bcos/optimizer.hpp"
#include "lab/cli/program.hpp"
#include "lab/commands/commands.hpp"

namespace bcos::lab::commands {
namespace {

struct Shown {
  int code;
  std::string out;
  std::string error;
};

class Inspect : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<float> weights(6, 1.0F);
    std::vector<double> bias(2, 1.0);
    Optimizer optimizer(bcosw_c, {.lambda = 0.05});
    const GroupId other = optimizer.add_group(adamw);
    const ParameterId w = optimizer.add("layer.weight", std::span(weights), {2, 3});
    optimizer.add("layer.bias", std::span(bias), {2}, other);
    const std::vector<float> gradient(6, 2.0F);
    for (int i = 0; i < 3; ++i) optimizer.step(0.1, {{w, gradient}});
    optimizer.save(path_);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  Shown inspect(std::vector<const char*> options = {}) const {
    options.insert(options.begin(), {"bcos", "inspect", path_.c_str()});
    cli::Program program;
    add_inspect(program);
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = program.run(static_cast<int>(options.size()), options.data());
    return {code, ::testing::internal::GetCapturedStdout(),
            ::testing::internal::GetCapturedStderr()};
  }

  void damage_last_byte() const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x55');
  }

 private:
  std::string path_ = ::testing::TempDir() + "bcos_inspect_" +
                      ::testing::UnitTest::GetInstance()->current_test_info()->name() +
                      ".safetensors";
};

void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
}

TEST_F(Inspect, ShowsGroupsParametersAndTensors) {
  const Shown shown = inspect();
  EXPECT_EQ(shown.code, 0) << shown.error;
  expect_words(shown.out, {"checksums: present, all match", "group 0: bcosw_c, lambda 0.05",
                           "group 1: adamw", "layer.weight  F32    [2, 3]      0      3",
                           "layer.bias    F64    [2]         1      0", "m/layer.weight"});
  EXPECT_EQ(shown.out.find(" rms"), std::string::npos);
}

TEST_F(Inspect, ShowsNumbersOnRequest) {
  expect_words(inspect({"--stats"}).out, {"min", "rms", "0.542"});
}

TEST_F(Inspect, RefusesADamagedFileInOneLine) {
  damage_last_byte();
  const Shown shown = inspect();
  EXPECT_EQ(shown.code, 1);
  EXPECT_EQ(shown.out, "");
  EXPECT_TRUE(shown.error.starts_with("bcos: [safetensors::verify] expected CRC32C "));
  EXPECT_EQ(shown.error.find('\n'), shown.error.size() - 1);
}

TEST_F(Inspect, ShowsADamagedFileThatIsNotToBeVerified) {
  damage_last_byte();
  const Shown shown = inspect({"--no-verify"});
  EXPECT_EQ(shown.code, 0) << shown.error;
  expect_words(shown.out, {"checksums: present, not verified"});
}

}  // namespace
}  // namespace bcos::lab::commands
