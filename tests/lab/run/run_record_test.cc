#include "lab/run/run_record.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "bcos/error.hpp"
#include "tests/scratch.hpp"

namespace bcos::lab::run {
namespace {

namespace fs = std::filesystem;

class ARunDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(root_);
    write("config.toml",
          "method = \"bcosw_c\"\nlr = 0.002\n# a note\nclip = true\nbetas = [0.9]\n");
    write("run.json", "{\"name\":\"first\",\"seed\":3}");
    write("metrics.jsonl", "{\"s\":0,\"trl\":5}\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const char* file, const std::string& text) { std::ofstream(root_ / file) << text; }
  std::string message() const {
    try {
      read_run(root_.string());
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing thrown";
  }

  fs::path root_ = bcos::testing::scratch_path("run");
};

TEST_F(ARunDirectory, GivesSettingsFactsAndMetrics) {
  const RunRecord run = read_run(root_.string());
  EXPECT_EQ(run.name, "first");
  EXPECT_EQ(run.directory, root_.string());
  ASSERT_EQ(run.settings.size(), 4U);
  EXPECT_EQ(run.settings[0], std::pair(std::string("method"), std::string("bcosw_c")));
  EXPECT_EQ(run.settings[1], std::pair(std::string("lr"), std::string("0.002")));
  EXPECT_EQ(run.setting("clip"), "true");
  EXPECT_EQ(run.setting("absent"), "");
  EXPECT_EQ(run.facts["seed"], 3);
  EXPECT_EQ(run.metrics.train.size(), 1U);
}

TEST_F(ARunDirectory, KeepsTheOrderOfItsSettings) {
  write("config.toml", "z = 1\na = 2\n[model]\nwidth = 64\ndepth = 2\n");
  const RunRecord run = read_run(root_.string());
  ASSERT_EQ(run.settings.size(), 4U);
  EXPECT_EQ(run.settings[0].first, "z");
  EXPECT_EQ(run.settings[1].first, "a");
  EXPECT_EQ(run.settings[2].first, "model.width");
  EXPECT_EQ(run.settings[3].first, "model.depth");
}

TEST_F(ARunDirectory, WithoutANameIsCalledByItsPath) {
  write("run.json", "{}");
  EXPECT_EQ(read_run(root_.string() + "/").name, root_.filename().string());
}

TEST_F(ARunDirectory, ThatIsNotThereIsNamed) {
  fs::remove_all(root_);
  EXPECT_NE(message().find(root_.string() + "': it does not exist"), std::string::npos)
      << message();
}

TEST_F(ARunDirectory, ThatIsAFileIsRefused) {
  EXPECT_THROW(read_run((root_ / "run.json").string()), Error);
}

TEST_F(ARunDirectory, WithoutItsFilesIsToldWhatIsMissing) {
  fs::remove(root_ / "metrics.jsonl");
  EXPECT_NE(message().find("has no metrics.jsonl"), std::string::npos) << message();
  fs::remove(root_ / "config.toml");
  EXPECT_NE(message().find("has no config.toml and no metrics.jsonl"), std::string::npos)
      << message();
}

TEST_F(ARunDirectory, WithDamagedSettingsIsRefusedWithTheLine) {
  write("config.toml", "lr = 1\nmethod =\n");
  EXPECT_NE(message().find("config.toml' but received, in line 2"), std::string::npos) << message();
}

TEST_F(ARunDirectory, WithDamagedFactsIsRefused) {
  write("run.json", "{\"name\":");
  EXPECT_NE(message().find("run.json"), std::string::npos) << message();
  write("run.json", "[1]");
  EXPECT_NE(message().find("expected a JSON object"), std::string::npos) << message();
}

}  // namespace
}  // namespace bcos::lab::run
