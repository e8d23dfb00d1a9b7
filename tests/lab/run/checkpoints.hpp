#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/safetensors/file_io.hpp"
#include "lab/run/checkpoint_store.hpp"
#include "tests/engine/safetensors/support.hpp"

namespace bcos::lab::run {

/// A run's checkpoints in a directory of their own.
class Checkpoints : public ::testing::Test {
 protected:
  Checkpoints() : calls_(safetensors::system_calls()) {
    // A process that dies does not show what was forced to disk, and a thousand saves take long.
    safetensors::system_calls().fsync = [](int) { return 0; };
  }
  ~Checkpoints() override { safetensors::system_calls() = calls_; }

  static constexpr const char* kModel = "model.safetensors";
  static constexpr const char* kState = "state.safetensors";

  static NamedFileWriter tensor_file(const std::string& name, std::uint64_t step) {
    return {name, [step](const std::string& path) {
              const std::vector<float> values(16, static_cast<float>(step));
              const std::vector<safetensors::TensorData> tensors = {
                  {"w", "F32", {16}, safetensors::bytes_of_vector(values)}};
              safetensors::write(path, tensors, {});
            }};
  }

  static void save(CheckpointStore& store, std::uint64_t step, bool best = false) {
    const std::vector<NamedFileWriter> files = {tensor_file(kModel, step),
                                                tensor_file(kState, step)};
    store.save(step, files, {{"seed", 7}, {"step", step}}, best);
  }

  /// The latest checkpoint after comparing what is in its file with its step; -1 if there is none.
  long latest() {
    complaints_.clear();
    const std::optional<Checkpoint> checkpoint = latest_checkpoint(path_, complaints_);
    if (!checkpoint) return -1;
    EXPECT_EQ(checkpoint->facts["step"], checkpoint->step);
    for (const char* name : {kModel, kState}) {
      const auto file = safetensors::File::open(checkpoint->file(name));
      float value = 0;
      const auto bytes = safetensors::read_all(file, file.tensors()[0]);
      std::copy_n(bytes.begin(), sizeof(value), reinterpret_cast<std::byte*>(&value));
      EXPECT_EQ(value, static_cast<float>(checkpoint->step));
    }
    return static_cast<long>(checkpoint->step);
  }

  /// The step of the best checkpoint; -1 if there is none.
  long best() {
    complaints_.clear();
    const std::optional<Checkpoint> checkpoint = best_checkpoint(path_, complaints_);
    return checkpoint ? static_cast<long>(checkpoint->step) : -1;
  }

  std::string step_path(const std::string& step) const { return path_ + "/step-" + step; }

  /// The names in the directory of checkpoints.
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      result.push_back(entry.path().filename().string());
    }
    std::ranges::sort(result);
    return result;
  }

  void start_again() { std::filesystem::remove_all(path_); }

  safetensors::TemporaryDirectory directory_;
  std::string path_ = directory_.file("checkpoints");
  std::vector<std::string> complaints_;

 private:
  safetensors::SystemCalls calls_;
};

}  // namespace bcos::lab::run
