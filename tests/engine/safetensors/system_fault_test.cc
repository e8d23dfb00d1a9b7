#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>

#include "engine/safetensors/file_io.hpp"
#include "tests/engine/safetensors/support.hpp"

namespace bcos::safetensors {
namespace {

/// Whether `action` returns true in a child process of its own.
bool holds_in_child(const std::function<bool()>& action) {
  const pid_t child = fork();
  if (child == 0) {
    bool held = false;
    try {
      held = action();
    } catch (...) {
      held = false;
    }
    _exit(held ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class SafetensorsSystemFaults : public testing::Test {
 protected:
  void save(const std::string& path) { write(path, tensors_, {}); }

  /// Whether a save throws Error(io) that says this.
  bool refused(const std::string& path, const std::string& text) {
    try {
      save(path);
    } catch (const Error& error) {
      return error.code() == ErrorCode::io && contains(error.what(), text) &&
             contains(error.what(), path);
    }
    return false;
  }

  std::vector<float> values_ = std::vector<float>(50'000, 0.5F);
  std::vector<TensorData> tensors_ = {{"a", "F32", {50'000}, bytes_of_vector(values_)}};
  TemporaryDirectory directory_;
  std::string path_ = directory_.file("a.safetensors");
};

TEST_F(SafetensorsSystemFaults, OfAFileSizeLimitLeaveTheOldFileAndNoOther) {
  put(path_, "the old file");
  for (const rlim_t limit : {0, 1, 4096, 100'000, 200'000}) {
    EXPECT_TRUE(holds_in_child([&] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit size{limit, limit};
      if (setrlimit(RLIMIT_FSIZE, &size) != 0) return false;
      return refused(path_, std::strerror(EFBIG)) && refused(path_, "bytes are needed");
    })) << limit;
    EXPECT_EQ(get(path_), "the old file");
    EXPECT_EQ(directory_.entries(), 1U);
  }
}

TEST_F(SafetensorsSystemFaults, OfAFullDeviceSayWhatIsNeeded) {
  const SystemCalls saved = system_calls();
  system_calls().write = [](int, const void* data, std::size_t size) -> ssize_t {
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full < 0) return static_cast<ssize_t>(size);
    const ssize_t count = ::write(full, data, size);
    const int code = errno;
    ::close(full);
    errno = code;
    return count;
  };
  const bool usable = access("/dev/full", W_OK) == 0;
  if (usable) {
    EXPECT_TRUE(refused(path_, std::strerror(ENOSPC)));
    EXPECT_TRUE(refused(path_, "bytes are needed"));
    EXPECT_EQ(directory_.entries(), 0U);
  }
  system_calls() = saved;
  if (!usable) GTEST_SKIP() << "no /dev/full";
}

TEST_F(SafetensorsSystemFaults, OfAMissingDirectoryAreReported) {
  EXPECT_TRUE(refused(directory_.file("none/a.safetensors"), std::strerror(ENOENT)));
  put(directory_.file("plain"), "");
  EXPECT_TRUE(refused(directory_.file("plain/a.safetensors"), std::strerror(ENOTDIR)));
}

TEST_F(SafetensorsSystemFaults, OfAReadOnlyDirectoryLeaveTheOldFile) {
  put(path_, "the old file");
  ASSERT_EQ(chmod(directory_.path().c_str(), 0555), 0);
  EXPECT_TRUE(holds_in_child([&] {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return false;
    return refused(path_, std::strerror(EACCES));
  }));
  ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
  EXPECT_EQ(get(path_), "the old file");
}

TEST_F(SafetensorsSystemFaults, OfADirectoryRemovedMeanwhileAreReported) {
  static std::string gone;
  gone = directory_.file("gone");
  ASSERT_TRUE(std::filesystem::create_directory(gone));
  const SystemCalls saved = system_calls();
  system_calls().fsync = [](int fd) {
    std::filesystem::remove_all(gone);
    return ::fsync(fd);
  };
  EXPECT_TRUE(refused(gone + "/a.safetensors", "rename"));
  system_calls() = saved;
}

TEST_F(SafetensorsSystemFaults, DoNotIncludeReplacingADeviceOrADirectory) {
  EXPECT_TRUE(refused("/dev/null", "regular file"));
  EXPECT_TRUE(refused("/dev/full", "regular file"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  ASSERT_TRUE(std::filesystem::create_directory(path_));
  EXPECT_TRUE(refused(path_, "regular file"));
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_F(SafetensorsSystemFaults, OfReadingWhatIsNoFileAreReportedAtOnce) {
  const std::string fifo = directory_.file("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {directory_.path(), fifo, std::string("/dev/zero")}) {
    const Error error = error_of([&] { File::open(path); });
    EXPECT_EQ(error.code(), ErrorCode::io) << error.what();
    EXPECT_TRUE(contains(error.what(), "[safetensors::open] expected a regular file"))
        << error.what();
  }
}

TEST_F(SafetensorsSystemFaults, OfAFileThatIsNotThereNameIt) {
  const Error error = error_of([&] { File::open(path_); });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_EQ(std::string(error.what()), "[safetensors::open] expected to open '" + path_ +
                                           "' but received '" + std::strerror(ENOENT) + "'");
}

TEST_F(SafetensorsSystemFaults, OfThePathItselfAreTheCallersFault) {
  for (const std::string& path : {std::string(), std::string("a\0b", 3)}) {
    EXPECT_EQ(error_of([&] { File::open(path); }).code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error_of([&] { save(path); }).code(), ErrorCode::invalid_argument);
  }
}

TEST_F(SafetensorsSystemFaults, AreNoneForAPathWithoutADirectory) {
  EXPECT_TRUE(holds_in_child([&] {
    if (chdir(directory_.path().c_str()) != 0) return false;
    save("here.safetensors");
    File::open("here.safetensors").verify();
    return true;
  }));
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_F(SafetensorsSystemFaults, OfAKilledWriterLeaveTheOldFile) {
  put(path_, "the old file");
  EXPECT_FALSE(holds_in_child([&] {
    system_calls().rename = [](const char*, const char*) { return raise(SIGKILL); };
    save(path_);
    return true;
  }));
  EXPECT_EQ(get(path_), "the old file");
  EXPECT_EQ(directory_.entries(), 2U) << "the temporary file has no owner left to remove it";
  save(path_);
  File::open(path_).verify();
}

}  // namespace
}  // namespace bcos::safetensors
