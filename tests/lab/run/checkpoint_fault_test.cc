#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <regex>

#include "engine/safetensors/file_io.hpp"
#include "lab/run/file_system.hpp"
#include "tests/lab/run/checkpoints.hpp"

namespace bcos::lab::run {
namespace {

using safetensors::contains;
using safetensors::system_calls;
using Names = std::vector<std::string>;

enum class Fault { none, error, killed_before, killed_after };

struct Plan {
  Fault fault = Fault::none;
  int at = 0;            ///< the number of the call to hit, from 1
  bool forever = false;  ///< and every one after it
  int code = EIO;
};

/// Stands between the store and the system as long as it lives, and writes down every call.
class Rig {
 public:
  explicit Rig(const Plan& plan)
      : files_(system_calls()), directories_(directory_calls()), plan_(plan) {
    current_ = this;
    system_calls().open = open;
    system_calls().close = [](int fd) {
      const int result = real().close(fd);
      return current_->call("close", fd, [&] { return result; });
    };
    system_calls().fstat = [](int fd, struct stat* status) {
      return current_->call("fstat", fd, [&] { return real().fstat(fd, status); });
    };
    system_calls().pread = [](int fd, void* out, std::size_t size, off_t offset) {
      return current_->call("pread", fd, [&] { return real().pread(fd, out, size, offset); });
    };
    system_calls().write = [](int fd, const void* data, std::size_t size) {
      return current_->call("write", fd, [&] { return real().write(fd, data, size); });
    };
    system_calls().fsync = [](int fd) {
      return current_->call("fsync", fd, [&] { return real().fsync(fd); });
    };
    system_calls().rename = [](const char* from, const char* to) {
      return current_->call("rename", short_name(from) + " to " + short_name(to),
                            [&] { return real().rename(from, to); });
    };
    system_calls().unlink = [](const char* path) {
      return current_->call("unlink", short_name(path), [&] { return real().unlink(path); });
    };
    directory_calls().mkdir = [](const char* path, mode_t mode) {
      return current_->call("mkdir", short_name(path),
                            [&] { return current_->directories_.mkdir(path, mode); });
    };
    directory_calls().rmdir = [](const char* path) {
      return current_->call("rmdir", short_name(path),
                            [&] { return current_->directories_.rmdir(path); });
    };
    directory_calls().statvfs = [](const char* path, struct statvfs* result) {
      return current_->call("statvfs", short_name(path),
                            [&] { return current_->directories_.statvfs(path, result); });
    };
  }
  ~Rig() {
    system_calls() = files_;
    directory_calls() = directories_;
  }
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  bool reached() const { return log_.size() >= static_cast<std::size_t>(plan_.at); }
  std::string hit() const { return log_.at(static_cast<std::size_t>(plan_.at) - 1); }

  /// The calls that change the disk.
  Names changes() const {
    Names result;
    for (const std::string& call : log_) {
      const bool reads = call.starts_with("open") || call.starts_with("close") ||
                         call.starts_with("fstat") || call.starts_with("pread") ||
                         call.starts_with("statvfs");
      if (!reads) result.push_back(call);
    }
    return result;
  }

 private:
  static const safetensors::SystemCalls& real() { return current_->files_; }

  /// A path's last part without the numbers of process and attempt.
  static std::string short_name(const std::string& path) {
    static const std::regex numbers("\\.tmp-[0-9-]+$|-[0-9]+-[0-9]+$");
    return std::regex_replace(path.substr(path.rfind('/') + 1), numbers, "~");
  }

  static int open(const char* path, int flags, mode_t mode) {
    const std::string name = short_name(path);
    const int fd = current_->call("open", name, [&] { return real().open(path, flags, mode); });
    if (fd >= 0) current_->names_[fd] = name;
    return fd;
  }

  template <class Action>
  auto call(const std::string& kind, int fd, const Action& action) -> decltype(action()) {
    return call(kind, names_[fd], action);
  }

  template <class Action>
  auto call(const std::string& kind, const std::string& name, const Action& action)
      -> decltype(action()) {
    log_.push_back(kind + " " + name);
    const int number = static_cast<int>(log_.size());
    const bool chosen = number == plan_.at || (plan_.forever && number > plan_.at);
    if (!chosen || plan_.fault == Fault::none) return action();
    if (plan_.fault == Fault::error) {
      errno = plan_.code;
      return -1;
    }
    if (plan_.fault == Fault::killed_after) action();
    raise(SIGKILL);
    return -1;
  }

  static inline Rig* current_ = nullptr;
  safetensors::SystemCalls files_;
  DirectoryCalls directories_;
  Plan plan_;
  std::map<int, std::string> names_;
  Names log_;
};

class ACheckpointStoreInTrouble : public Checkpoints {
 protected:
  /// Steps 1 and 2, of which 1 will be removed when 3 is saved.
  void prepare() {
    start_again();
    CheckpointStore store(path_, 2);
    save(store, 1);
    save(store, 2);
  }

  void expect_that_work_goes_on(std::uint64_t step) {
    CheckpointStore store(path_, 2);
    for (const std::string& name : names()) EXPECT_FALSE(contains(name, "tmp")) << name;
    save(store, step);
    EXPECT_EQ(latest(), static_cast<long>(step));
    EXPECT_EQ(names().size(), 2U);
  }

  void kill_at_every_call(Fault fault) {
    bool committed = false;
    for (int at = 1;; ++at) {
      prepare();
      const pid_t child = fork();
      if (child == 0) {
        {
          const Rig rig({fault, at});
          CheckpointStore store(path_, 2);
          save(store, 3);
        }
        _exit(0);
      }
      int status = -1;
      waitpid(child, &status, 0);
      SCOPED_TRACE("call " + std::to_string(at));
      const long step = latest();
      EXPECT_TRUE(complaints_.empty()) << complaints_[0];
      EXPECT_TRUE(step == 2 || step == 3) << step;
      EXPECT_TRUE(step == 3 || !committed) << "it was there when killed earlier";
      committed = step == 3;
      expect_that_work_goes_on(4);
      if (WIFEXITED(status)) {
        EXPECT_EQ(WEXITSTATUS(status), 0);
        EXPECT_EQ(step, 3);
        EXPECT_GT(at, 40);
        return;
      }
      ASSERT_EQ(WTERMSIG(status), SIGKILL);
    }
  }

  void fail_at_every_call(int code, bool forever) {
    for (int at = 1;; ++at) {
      prepare();
      CheckpointStore store(path_, 2);
      std::string said;
      std::string hit;
      {
        const Rig rig({Fault::error, at, forever, code});
        try {
          save(store, 3);
        } catch (const Error& error) {
          said = error.what();
          EXPECT_EQ(error.code(), ErrorCode::io) << said;
        }
        if (rig.reached()) hit = rig.hit();
      }
      SCOPED_TRACE(hit + ", call " + std::to_string(at) + ": " + said);
      const bool saved = said.empty() || contains(said, "; step 3 is saved");
      EXPECT_EQ(latest(), saved ? 3 : 2);
      EXPECT_TRUE(complaints_.empty());
      if (!said.empty()) {
        EXPECT_TRUE(contains(said, "'" + path_));
        EXPECT_TRUE(contains(said, std::strerror(code)));
      }
      // What cannot be read once the step is saved is not removed either, and no failure.
      EXPECT_TRUE(!changes_the_disk(hit) || !said.empty());
      expect_that_work_goes_on(4);
      if (hit.empty()) return;
    }
  }

  static bool changes_the_disk(const std::string& call) {
    for (const char* kind : {"write", "fsync", "rename", "unlink", "mkdir", "rmdir"}) {
      if (call.starts_with(kind)) return true;
    }
    return false;
  }
};

TEST_F(ACheckpointStoreInTrouble, WritesSyncsRenamesAndSyncsTheParentInThisOrder) {
  prepare();
  CheckpointStore store(path_, 2);
  const Rig rig({});
  const std::vector<NamedFileWriter> files = {tensor_file(kModel, 3)};
  store.save(3, files, {}, false);
  const Names expected = {
      "mkdir step-00000003~",
      "write model.safetensors~",
      "fsync model.safetensors~",
      "rename model.safetensors~ to model.safetensors",
      "fsync step-00000003~",
      "fsync model.safetensors",
      "write manifest.json~",
      "fsync manifest.json~",
      "rename manifest.json~ to manifest.json",
      "fsync step-00000003~",
      "rename step-00000003~ to step-00000003",
      "fsync checkpoints",
      "rename step-00000001 to .trash-step-00000001~",
      "fsync checkpoints",
      "unlink manifest.json",
      "unlink model.safetensors",
      "unlink state.safetensors",
      "rmdir .trash-step-00000001~",
  };
  EXPECT_EQ(rig.changes(), expected);
}

TEST_F(ACheckpointStoreInTrouble, KilledBeforeAnyCallHasTheOldStepOrTheNew) {
  kill_at_every_call(Fault::killed_before);
}

TEST_F(ACheckpointStoreInTrouble, KilledAfterAnyCallHasTheOldStepOrTheNew) {
  kill_at_every_call(Fault::killed_after);
}

TEST_F(ACheckpointStoreInTrouble, OfOneFailedCallKeepsTheOldStepAndSaysWhy) {
  for (const int code : {EIO, ENOSPC}) fail_at_every_call(code, false);
}

TEST_F(ACheckpointStoreInTrouble, OfAllLaterCallsKeepsTheOldStepAndSaysWhy) {
  for (const int code : {EIO, ENOSPC}) fail_at_every_call(code, true);
}

TEST_F(ACheckpointStoreInTrouble, KilledWhileItMarksTheBestHasMarkedItOrNot) {
  bool marked = false;
  for (int at = 1;; ++at) {
    prepare();
    const pid_t child = fork();
    if (child == 0) {
      {
        CheckpointStore store(path_, 2);
        const Rig rig({Fault::killed_before, at});
        store.mark_best(2);
      }
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    SCOPED_TRACE("call " + std::to_string(at));
    EXPECT_EQ(latest(), 2);
    EXPECT_TRUE(complaints_.empty());
    EXPECT_TRUE(best() == 2 || (best() == -1 && !marked));
    marked = best() == 2;
    expect_that_work_goes_on(3);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      EXPECT_FALSE(contains(entry.path().filename().string(), "tmp")) << entry.path();
    }
    if (WIFEXITED(status)) {
      EXPECT_TRUE(marked);
      EXPECT_GT(at, 8);
      return;
    }
  }
}

TEST_F(ACheckpointStoreInTrouble, ThatCannotMarkTheBestSaysWhy) {
  bool over = false;
  for (int at = 1; !over; ++at) {
    prepare();
    const CheckpointStore store(path_, 2);
    std::string said;
    {
      const Rig rig({Fault::error, at, true, ENOSPC});
      try {
        store.mark_best(2);
      } catch (const Error& error) {
        said = error.what();
      }
      over = !rig.reached();
    }
    SCOPED_TRACE("call " + std::to_string(at) + ": " + said);
    EXPECT_EQ(latest(), 2);
    EXPECT_TRUE(!said.empty() || best() == 2);
    EXPECT_TRUE(said.empty() || contains(said, path_));
  }
}

TEST_F(ACheckpointStoreInTrouble, KilledWhileItRemovesLeftoversRemovesThemNextTime) {
  for (int at = 1;; ++at) {
    prepare();
    const pid_t dead = fork();
    if (dead == 0) _exit(0);
    waitpid(dead, nullptr, 0);
    for (const char* stem : {"/step-00000003.tmp-", "/.trash-step-00000001-0-"}) {
      const std::string path = path_ + stem + std::to_string(dead);
      std::filesystem::create_directory(path);
      safetensors::put(path + "/a", "half");
      safetensors::put(path + "/b", "half");
    }
    const pid_t child = fork();
    if (child == 0) {
      const Rig rig({Fault::killed_before, at});
      {
        const CheckpointStore store(path_, 2);
      }
      _exit(0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(latest(), 2);
    expect_that_work_goes_on(3);
    if (WIFEXITED(status)) {
      EXPECT_EQ(at, 7) << "four files and two directories";
      return;
    }
  }
}

}  // namespace
}  // namespace bcos::lab::run
