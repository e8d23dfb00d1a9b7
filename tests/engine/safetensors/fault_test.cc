#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/safetensors/file_io.hpp"
#include "tests/engine/safetensors/support.hpp"

namespace bcos::safetensors {
namespace {

enum class Fault { none, error, shortened };

struct Plan {
  Fault fault = Fault::none;
  int at = 0;            ///< the number of the call to hit, from 1
  bool forever = false;  ///< and every one after it
  int code = EIO;
};

/// Stands between the library and the system as long as it lives.
class Rig {
 public:
  explicit Rig(const Plan& plan) : real_(system_calls()), plan_(plan) {
    current_ = this;
    system_calls() = {.open = open,
                      .close = close,
                      .stat = stat,
                      .fstat = fstat,
                      .pread = pread,
                      .write = write,
                      .fsync = fsync,
                      .rename = rename,
                      .unlink = unlink};
  }
  ~Rig() { system_calls() = real_; }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  const std::vector<std::string>& log() const { return log_; }
  /// Whether the plan's call came at all.
  bool reached() const { return log_.size() >= static_cast<std::size_t>(plan_.at); }
  std::string hit() const { return log_.at(static_cast<std::size_t>(plan_.at) - 1); }

 private:
  bool chosen(const std::string& call) {
    log_.push_back(call);
    const int number = static_cast<int>(log_.size());
    return number == plan_.at || (plan_.forever && number > plan_.at);
  }

  bool fails(const std::string& call) {
    if (!chosen(call) || plan_.fault != Fault::error) return false;
    errno = plan_.code;
    return true;
  }

  std::size_t granted(std::size_t size) const {
    const bool now = static_cast<int>(log_.size()) == plan_.at;
    return plan_.fault == Fault::shortened && (now || plan_.forever) ? (size + 1) / 2 : size;
  }

  static int open(const char* path, int flags, mode_t mode) {
    const bool directory = (flags & O_DIRECTORY) != 0;
    if (current_->fails(directory ? "open directory" : "open")) return -1;
    const int fd = current_->real_.open(path, flags, mode);
    if (directory) current_->directory_ = fd;
    return fd;
  }
  static int close(int fd) {
    const int result = current_->real_.close(fd);
    return current_->fails(current_->with_place("close", fd)) ? -1 : result;
  }
  static int stat(const char* path, struct stat* status) {
    return current_->fails("stat") ? -1 : current_->real_.stat(path, status);
  }
  static int fstat(int fd, struct stat* status) {
    return current_->fails("fstat") ? -1 : current_->real_.fstat(fd, status);
  }
  static ssize_t pread(int fd, void* out, std::size_t size, off_t offset) {
    if (current_->fails("pread")) return -1;
    return current_->real_.pread(fd, out, current_->granted(size), offset);
  }
  static ssize_t write(int fd, const void* data, std::size_t size) {
    if (current_->fails("write")) return -1;
    return current_->real_.write(fd, data, current_->granted(size));
  }
  static int fsync(int fd) {
    return current_->fails(current_->with_place("fsync", fd)) ? -1 : current_->real_.fsync(fd);
  }
  static int rename(const char* from, const char* to) {
    return current_->fails("rename") ? -1 : current_->real_.rename(from, to);
  }
  static int unlink(const char* path) {
    return current_->fails("unlink") ? -1 : current_->real_.unlink(path);
  }

  std::string with_place(const std::string& call, int fd) const {
    return fd == directory_ ? call + " directory" : call;
  }

  static inline Rig* current_ = nullptr;
  SystemCalls real_;
  Plan plan_;
  int directory_ = -1;
  std::vector<std::string> log_;
};

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(
      std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()));
}

class SafetensorsFaults : public testing::Test {
 protected:
  SafetensorsFaults() {
    put(path_, kOld);
    tensors_ = {{"large", "F32", {300'000}, bytes_of_vector(values_)},
                {"small", "F32", {2}, bytes_of_vector(values_).first(8)}};
  }

  void save() { write(path_, tensors_, {{"k", "v"}}); }

  void expect_new_file() {
    const File file = File::open(path_);
    file.verify();
    EXPECT_EQ(file.tensors().size(), 2U);
    EXPECT_EQ(directory_.entries(), 1U);
  }

  /// Fails each call of a save in turn.
  void expect_old_or_new(int code, bool forever) {
    save();
    const std::string needed = std::to_string(get(path_).size()) + " bytes are needed";
    const std::size_t descriptors = open_descriptors();
    for (int at = 1;; ++at) {
      put(path_, kOld);
      const Rig rig({Fault::error, at, forever, code});
      bool thrown = false;
      try {
        save();
      } catch (const Error& error) {
        thrown = true;
        const std::string text = error.what();
        EXPECT_EQ(error.code(), ErrorCode::io) << text;
        EXPECT_TRUE(text.starts_with("[safetensors::write] expected to ")) << text;
        EXPECT_TRUE(contains(text, std::strerror(code))) << text;
        EXPECT_TRUE(contains(text, "'" + path_ + "'")) << text;
        EXPECT_TRUE(code == EIO || contains(text, needed)) << text;
      }
      if (!rig.reached()) {
        EXPECT_FALSE(thrown);
        break;
      }
      SCOPED_TRACE(rig.hit() + ", call " + std::to_string(at));
      EXPECT_EQ(open_descriptors(), descriptors);
      EXPECT_EQ(thrown, rig.hit() != "close directory");
      const bool renamed = std::ranges::count(rig.log(), "rename") == 1 && rig.hit() != "rename";
      EXPECT_EQ(get(path_) == kOld, !renamed);
      EXPECT_TRUE(forever || directory_.entries() == 1);
      clear_temporaries();
    }
    expect_new_file();
  }

  void clear_temporaries() {
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      if (entry.path() != path_) std::filesystem::remove(entry.path());
    }
  }

  static constexpr const char* kOld = "the old file";
  TemporaryDirectory directory_;
  std::string path_ = directory_.file("a.safetensors");
  std::vector<float> values_ = std::vector<float>(300'000, 1.25F);
  std::vector<TensorData> tensors_;
};

TEST_F(SafetensorsFaults, WritesSyncsRenamesAndSyncsTheDirectoryInThisOrder) {
  const Rig rig({});
  save();
  const std::vector<std::string> expected = {"stat",   "open directory",  "open",           "write",
                                             "write",  "write",           "fsync",          "close",
                                             "rename", "fsync directory", "close directory"};
  EXPECT_EQ(rig.log(), expected);
}

TEST_F(SafetensorsFaults, OfOneCallLeaveTheOldFileOrTheNew) {
  for (const int code : {EIO, ENOSPC, EDQUOT}) expect_old_or_new(code, false);
}

TEST_F(SafetensorsFaults, OfAllLaterCallsLeaveTheOldFileOrTheNew) {
  for (const int code : {EIO, ENOSPC, EFBIG}) expect_old_or_new(code, true);
}

TEST_F(SafetensorsFaults, ByInterruptionOfWritingAreOvercome) {
  for (int at = 1;; ++at) {
    put(path_, kOld);
    const Rig rig({Fault::error, at, false, EINTR});
    bool thrown = false;
    try {
      save();
    } catch (const Error& error) {
      thrown = true;
      EXPECT_EQ(error.code(), ErrorCode::io);
    }
    if (!rig.reached()) break;
    // Neither of these is interrupted on local disks; what an interrupted rename did is unknown.
    EXPECT_EQ(thrown, rig.hit() == "rename" || rig.hit() == "stat") << rig.hit();
    if (!thrown) expect_new_file();
  }
}

TEST_F(SafetensorsFaults, ByShortWritesAreOvercome) {
  for (const bool forever : {false, true}) {
    for (int at = 4; at < 9; ++at) {
      put(path_, kOld);
      const Rig rig({Fault::shortened, at, forever, 0});
      save();
      expect_new_file();
    }
  }
}

TEST_F(SafetensorsFaults, OfADirectoryThatCannotBeSyncedAreNone) {
  const Rig rig({Fault::error, 10, false, EINVAL});
  save();
  EXPECT_EQ(rig.hit(), "fsync directory");
  expect_new_file();
}

TEST_F(SafetensorsFaults, StepAsideForALeftOverTemporaryFile) {
  const Rig rig({Fault::error, 3, false, EEXIST});
  save();
  EXPECT_EQ(rig.hit(), "open");
  expect_new_file();
}

TEST_F(SafetensorsFaults, OfReadingAreReported) {
  save();
  const std::size_t descriptors = open_descriptors();
  for (int at = 1;; ++at) {
    const Rig rig({Fault::error, at, false, EIO});
    bool thrown = false;
    try {
      File::open(path_).verify();
    } catch (const Error& error) {
      thrown = true;
      EXPECT_EQ(error.code(), ErrorCode::io) << error.what();
      EXPECT_TRUE(contains(error.what(), std::strerror(EIO))) << error.what();
      EXPECT_TRUE(contains(error.what(), path_)) << error.what();
    }
    EXPECT_EQ(open_descriptors(), descriptors);
    if (!rig.reached()) break;
    EXPECT_EQ(thrown, rig.hit() != "close") << rig.hit();
  }
}

TEST_F(SafetensorsFaults, ByInterruptedAndShortReadsAreOvercome) {
  save();
  for (int at = 1;; ++at) {
    const Rig rig({Fault::error, at, false, EINTR});
    if (at != 2) File::open(path_).verify();  // 2 is fstat, which is never interrupted
    if (at != 2 && !rig.reached()) break;
  }
  for (int at = 3; at < 12; ++at) {
    const Rig rig({Fault::shortened, at, at % 2 == 0, 0});
    File::open(path_).verify();
  }
}

}  // namespace
}  // namespace bcos::safetensors
