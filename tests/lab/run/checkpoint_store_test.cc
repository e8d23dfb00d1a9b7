#include "lab/run/checkpoint_store.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <limits>
#include <stdexcept>

#include "lab/run/checkpoint_manifest.hpp"
#include "lab/run/file_system.hpp"
#include "tests/lab/run/checkpoints.hpp"

namespace bcos::lab::run {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::vector<std::string>;
using safetensors::contains;
using safetensors::error_of;
using safetensors::get;
using safetensors::put;

using ACheckpointStore = Checkpoints;

TEST_F(ACheckpointStore, HasNothingAtFirst) {
  EXPECT_EQ(latest(), -1);
  const CheckpointStore store(path_, 2);
  EXPECT_EQ(latest(), -1);
  EXPECT_EQ(best(), -1);
  EXPECT_TRUE(complaints_.empty());
}

TEST_F(ACheckpointStore, GivesBackWhatWasSaved) {
  CheckpointStore store(path_, 2);
  save(store, 5);
  const std::optional<Checkpoint> checkpoint = store.latest(complaints_);
  ASSERT_TRUE(checkpoint);
  EXPECT_EQ(checkpoint->step, 5U);
  EXPECT_EQ(checkpoint->path, step_path("00000005"));
  EXPECT_EQ(checkpoint->facts, Json({{"seed", 7}, {"step", 5}}));
  EXPECT_EQ(latest(), 5);
  EXPECT_TRUE(complaints_.empty());
  EXPECT_EQ(names(), Names{"step-00000005"});
}

TEST_F(ACheckpointStore, HasAManifestThatPeopleCanRead) {
  CheckpointStore store(path_, 2);
  save(store, 5, true);
  const Json manifest = Json::parse(get(step_path("00000005/manifest.json")));
  EXPECT_EQ(manifest["format"], "bcos checkpoint");
  EXPECT_EQ(manifest["version"], 1);
  EXPECT_EQ(manifest["step"], 5);
  EXPECT_EQ(manifest["best"], true);
  ASSERT_EQ(manifest["files"].size(), 2U);
  const std::string model = get(step_path("00000005/model.safetensors"));
  EXPECT_EQ(manifest["files"][0]["name"], kModel);
  EXPECT_EQ(manifest["files"][0]["bytes"], model.size());
  EXPECT_EQ(manifest["files"][0]["crc32c"],
            fmt::format("{:08x}", safetensors::crc32c(std::as_bytes(std::span(model)))));
}

TEST_F(ACheckpointStore, KeepsTheLastThreeOfTwentyAndTheBest) {
  CheckpointStore store(path_, 3);
  for (std::uint64_t step = 1; step <= 20; ++step) {
    save(store, step, step == 2 || step == 5);
    EXPECT_EQ(latest(), static_cast<long>(step));
  }
  EXPECT_EQ(names(), (Names{"step-00000005", "step-00000018", "step-00000019", "step-00000020"}));
  EXPECT_EQ(best(), 5);
}

TEST_F(ACheckpointStore, MayLearnLaterWhichIsTheBest) {
  CheckpointStore store(path_, 2);
  save(store, 1, true);
  save(store, 2);
  store.mark_best(2);
  store.mark_best(2);
  EXPECT_EQ(best(), 2);
  EXPECT_EQ(latest(), 2);
  for (std::uint64_t step = 3; step <= 5; ++step) save(store, step);
  EXPECT_EQ(names(), (Names{"step-00000002", "step-00000004", "step-00000005"}));
  EXPECT_EQ(error_of([&] { store.mark_best(3); }).code(), ErrorCode::io);
}

TEST_F(ACheckpointStore, CountsTheBestAmongTheLast) {
  CheckpointStore store(path_, 2);
  for (std::uint64_t step = 1; step <= 4; ++step) save(store, step, true);
  EXPECT_EQ(names(), (Names{"step-00000003", "step-00000004"}));
}

TEST_F(ACheckpointStore, MayKeepOne) {
  CheckpointStore store(path_, 1);
  for (std::uint64_t step = 1; step <= 3; ++step) save(store, step);
  EXPECT_EQ(names(), Names{"step-00000003"});
  EXPECT_EQ(error_of([&] { CheckpointStore(path_, 0); }).code(), ErrorCode::invalid_argument);
}

TEST_F(ACheckpointStore, OrdersStepsByNumberNotByName) {
  CheckpointStore store(path_, 5);
  save(store, 99'999'999);
  save(store, 100'000'000);
  EXPECT_EQ(latest(), 100'000'000);
  EXPECT_EQ(names(), (Names{"step-100000000", "step-99999999"}));
}

TEST_F(ACheckpointStore, IgnoresNamesThatAreNotItsOwn) {
  CheckpointStore store(path_, 2);
  save(store, 5);
  for (const char* name :
       {"step-7", "step-000000000007", "step-0000000x", "step--0000001", "notes"}) {
    std::filesystem::create_directory(path_ + "/" + name);
  }
  EXPECT_EQ(latest(), 5);
  EXPECT_TRUE(complaints_.empty());
  save(store, 6);
  EXPECT_EQ(names().size(), 7U);
}

TEST_F(ACheckpointStore, NeverOverwritesAStep) {
  CheckpointStore store(path_, 2);
  save(store, 5);
  const std::string before = get(step_path("00000005/manifest.json"));
  for (const std::uint64_t step : {5, 4}) {
    const Error error = error_of([&] { save(store, step, true); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_TRUE(contains(error.what(), "'" + step_path("00000005") + "' exists")) << error.what();
  }
  EXPECT_EQ(get(step_path("00000005/manifest.json")), before);
  EXPECT_EQ(names(), Names{"step-00000005"});
}

TEST_F(ACheckpointStore, PutsANewStepInThePlaceOfADamagedOne) {
  CheckpointStore store(path_, 2);
  save(store, 4);
  save(store, 5);
  put(step_path("00000005/model.safetensors"), "damaged");
  EXPECT_EQ(latest(), 4);
  save(store, 5);
  EXPECT_EQ(latest(), 5);
  EXPECT_EQ(names(), (Names{"step-00000004", "step-00000005"}));
}

TEST_F(ACheckpointStore, IsAsBeforeWhenAWriterThrows) {
  CheckpointStore store(path_, 2);
  save(store, 5);
  const std::vector<NamedFileWriter> files = {
      tensor_file(kModel, 6),
      {kState, [](const std::string&) { throw std::runtime_error("no state"); }}};
  EXPECT_THROW(store.save(6, files, {}, false), std::runtime_error);
  EXPECT_EQ(names(), Names{"step-00000005"});
}

TEST_F(ACheckpointStore, NamesAFileThatItsWriterDidNotWrite) {
  CheckpointStore store(path_, 2);
  const std::vector<NamedFileWriter> files = {{kModel, [](const std::string&) {}}};
  const Error error = error_of([&] { store.save(6, files, {}, false); });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_TRUE(contains(error.what(), kModel)) << error.what();
  EXPECT_TRUE(names().empty());
}

TEST_F(ACheckpointStore, RefusesNamesThatLeadElsewhere) {
  CheckpointStore store(path_, 2);
  for (const std::string& name :
       {std::string(), std::string("../x"), std::string("a/b"), std::string(".."),
        std::string("manifest.json"), std::string("a\0b", 3)}) {
    const std::vector<NamedFileWriter> files = {tensor_file(name, 1)};
    EXPECT_EQ(error_of([&] { store.save(1, files, {}, false); }).code(),
              ErrorCode::invalid_argument);
  }
  const std::vector<NamedFileWriter> twice = {tensor_file(kModel, 1), tensor_file(kModel, 1)};
  EXPECT_TRUE(contains(error_of([&] { store.save(1, twice, {}, false); }).what(), "twice"));
  EXPECT_TRUE(names().empty());
}

TEST_F(ACheckpointStore, DoesNotBeginWhatDoesNotFit) {
  CheckpointStore store(path_, 2);
  save(store, 5);
  const DirectoryCalls saved = directory_calls();
  directory_calls().statvfs = [](const char*, struct statvfs* result) {
    *result = {};
    result->f_blocks = 1000;
    result->f_bavail = 3;
    result->f_frsize = 4096;
    return 0;
  };
  const std::vector<NamedFileWriter> files = {
      {kModel, [](const std::string&) { FAIL() << "nothing may be written"; }}};
  const Error error = error_of([&] { store.save(6, files, {}, false, 12'289); });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_TRUE(contains(
      error.what(), "expected 12289 free bytes for step 6 in '" + path_ + "' but received 12288"))
      << error.what();
  const std::vector<NamedFileWriter> good = {tensor_file(kModel, 6)};
  EXPECT_NO_THROW(store.save(6, good, {}, false, 12'288));
  directory_calls() = saved;
  EXPECT_EQ(names(), (Names{"step-00000005", "step-00000006"}));
}

TEST_F(ACheckpointStore, SurvivesBeingCopied) {
  CheckpointStore store(path_, 2);
  save(store, 5);
  const std::string copy = directory_.file("elsewhere");
  std::filesystem::copy(step_path("00000005"), copy);
  start_again();
  const Checkpoint checkpoint = read_checkpoint(copy);
  EXPECT_EQ(checkpoint.step, 5U);
  EXPECT_EQ(checkpoint.path, copy);
  EXPECT_EQ(checkpoint.facts["seed"], 7);
}

TEST_F(ACheckpointStore, IsNotFooledByACopyUnderAnotherStep) {
  CheckpointStore store(path_, 2);
  save(store, 5);
  std::filesystem::copy(step_path("00000005"), step_path("00000009"));
  EXPECT_EQ(latest(), 5);
  ASSERT_EQ(complaints_.size(), 1U);
  EXPECT_TRUE(contains(complaints_[0], "'" + step_path("00000009") + "'")) << complaints_[0];
}

TEST_F(ACheckpointStore, RemovesWhatTheDeadHaveLeftAndNothingElse) {
  const pid_t living = fork();
  if (living == 0) {
    pause();
    _exit(0);
  }
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  waitpid(dead, nullptr, 0);
  {
    const CheckpointStore store(path_, 2);
  }
  const auto leave = [&](const std::string& name) {
    std::filesystem::create_directories(path_ + "/" + name + "/inner");
    put(path_ + "/" + name + "/inner/file", "half");
  };
  Names expected;
  for (const char* stem : {"step-00000009.tmp-", ".trash-step-00000002-0-"}) {
    leave(stem + std::to_string(dead));
    leave(stem + std::to_string(getpid()));
    leave(stem + std::to_string(living));
    expected.push_back(stem + std::to_string(living));
    leave(stem + std::string("x"));
    expected.push_back(stem + std::string("x"));
  }
  std::ranges::sort(expected);
  {
    const CheckpointStore store(path_, 2);
  }
  EXPECT_EQ(names(), expected);
  kill(living, SIGKILL);
  waitpid(living, nullptr, 0);
}

TEST_F(ACheckpointStore, NamesTheParentThatIsMissing) {
  const std::string path = directory_.file("none/checkpoints");
  const Error error = error_of([&] { CheckpointStore(path, 2); });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_TRUE(contains(error.what(), "'" + path + "'")) << error.what();
}

TEST_F(ACheckpointStore, RefusesFactsThatCouldNotBeReadAgain) {
  CheckpointStore store(path_, 2);
  Json deep;
  for (int i = 0; i < 100; ++i) deep = Json::array({deep});
  EXPECT_THROW(store.save(1, {}, deep, false), Error);
  EXPECT_THROW(store.save(1, {}, "\xFF", false), Error);
  EXPECT_TRUE(names().empty());
}

}  // namespace
}  // namespace bcos::lab::run
