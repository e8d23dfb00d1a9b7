#include "lab/run/run_directory.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <functional>
#include <vector>

#include "tests/engine/safetensors/support.hpp"

namespace bcos::lab::run {
namespace {

using Json = nlohmann::ordered_json;
using safetensors::contains;
using safetensors::error_of;
using safetensors::get;
using safetensors::put;
using safetensors::system_calls;

/// A child process that runs an action and leaves; `status` waits for its exit code.
class Child {
 public:
  explicit Child(const std::function<int()>& action) : process_(fork()) {
    if (process_ != 0) return;
    int code = 99;
    try {
      code = action();
    } catch (...) {
      code = 98;
    }
    _exit(code);
  }
  pid_t process() const { return process_; }
  int status() const {
    int status = -1;
    waitpid(process_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t process_;
};

/// A pipe to wait at: wait() returns when all other ends of the pipe are closed.
class Gate {
 public:
  Gate() {
    if (pipe(ends_) != 0) throw std::runtime_error("no pipe");
  }
  ~Gate() {
    ::close(ends_[0]);
    open();
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void wait() {
    char byte = 0;
    open();
    while (::read(ends_[0], &byte, 1) > 0) {
    }
  }
  /// Lets one that waits for a word go on.
  void say() const { static_cast<void>(::write(ends_[1], "x", 1) == 1); }
  void wait_for_word() const {
    char byte = 0;
    static_cast<void>(::read(ends_[0], &byte, 1) == 1);
  }
  void open() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

class AnOwnedRunDirectory : public ::testing::Test {
 protected:
  AnOwnedRunDirectory() : saved_(system_calls()) {}
  ~AnOwnedRunDirectory() override { system_calls() = saved_; }

  std::string metrics() const { return get(path_ + "/metrics.jsonl"); }

  safetensors::TemporaryDirectory directory_;
  std::string path_ = directory_.file("runs/x");
  safetensors::SystemCalls saved_;
};

TEST_F(AnOwnedRunDirectory, IsMadeWithTheDirectoryOfRuns) {
  const RunDirectory run = RunDirectory::open(path_ + "//");
  EXPECT_EQ(run.path(), path_);
  EXPECT_EQ(run.file("lock"), path_ + "/lock");
  EXPECT_TRUE(
      get(path_ + "/lock").starts_with("process " + std::to_string(getpid()) + " on host "));
}

TEST_F(AnOwnedRunDirectory, NamesTheParentThatIsMissing) {
  const Error error = error_of([&] { RunDirectory::open(directory_.file("a/b/c/d")); });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_TRUE(contains(error.what(), "parent '" + directory_.file("a/b") + "' is missing"))
      << error.what();
  EXPECT_EQ(directory_.entries(), 0U);
}

TEST_F(AnOwnedRunDirectory, NamesTheParentThatCannotBeWritten) {
  const std::string parent = directory_.file("closed");
  ASSERT_EQ(mkdir(parent.c_str(), 0555), 0);
  ASSERT_EQ(chmod(directory_.path().c_str(), 0755), 0);
  const Child child([&] {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 2;
    const Error error = error_of([&] { RunDirectory::open(parent + "/x"); });
    return contains(error.what(), "'" + parent + "/x'") &&
                   contains(error.what(), std::strerror(EACCES))
               ? 0
               : 1;
  });
  EXPECT_EQ(child.status(), 0);
}

TEST_F(AnOwnedRunDirectory, IsNotAFile) {
  put(directory_.file("file"), "");
  EXPECT_TRUE(contains(error_of([&] { RunDirectory::open(directory_.file("file")); }).what(),
                       "expected a directory but received a file"));
  EXPECT_TRUE(contains(error_of([&] { RunDirectory::open(directory_.file("file/x")); }).what(),
                       std::strerror(ENOTDIR)));
}

TEST_F(AnOwnedRunDirectory, ToGoOnWithMustHaveARun) {
  const Error missing = error_of([&] { RunDirectory::open(path_, Expected::a_run); });
  EXPECT_TRUE(contains(missing.what(), "'" + path_ + "' is missing")) << missing.what();
  EXPECT_EQ(directory_.entries(), 0U);
  {
    RunDirectory::open(path_);
  }
  const Error empty = error_of([&] { RunDirectory::open(path_, Expected::a_run); });
  EXPECT_TRUE(contains(empty.what(), "no config.toml")) << empty.what();
}

TEST_F(AnOwnedRunDirectory, HasOneOwnerAtATime) {
  std::optional<RunDirectory> run(RunDirectory::open(path_));
  const Error error = error_of([&] { RunDirectory::open(path_); });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_TRUE(contains(error.what(), "[run] expected a run directory of one process but '" + path_ +
                                         "' is used by process " + std::to_string(getpid()) +
                                         " on host "))
      << error.what();
  EXPECT_TRUE(contains(error.what(), " UTC: ")) << error.what();
  run.reset();
  EXPECT_EQ(get(path_ + "/lock"), "");
  EXPECT_NO_THROW(RunDirectory::open(path_));
}

TEST_F(AnOwnedRunDirectory, KeepsItsOwnerWhenItIsMoved) {
  RunDirectory run = RunDirectory::open(path_);
  const RunDirectory moved = std::move(run);
  EXPECT_THROW(RunDirectory::open(path_), Error);
}

TEST_F(AnOwnedRunDirectory, OpenedByTwentyProcessesAtOnceIsGivenToOne) {
  enum { kOwner = 1, kRefusedRightly = 2, kRefusedWrongly = 3 };
  constexpr int kProcesses = 20;
  for (int round = 0; round < 3; ++round) {
    Gate start;
    std::vector<Child> children;
    children.reserve(kProcesses);
    Gate refused;
    for (int i = 0; i < kProcesses; ++i) {
      children.emplace_back([&]() -> int {
        start.wait();
        try {
          const RunDirectory run = RunDirectory::open(path_);
          for (int other = 1; other < kProcesses; ++other) refused.wait_for_word();
          put(path_ + "/owner", std::to_string(getpid()));
          return kOwner;
        } catch (const Error& error) {
          put(path_ + "/said-" + std::to_string(getpid()), error.what());
          refused.say();
          return contains(error.what(), "is used by process ") ? kRefusedRightly : kRefusedWrongly;
        }
      });
    }
    start.open();
    int owners = 0;
    int others = 0;
    std::vector<pid_t> losers;
    for (const Child& child : children) {
      const int status = child.status();
      owners += status == kOwner ? 1 : 0;
      others += status == kRefusedRightly ? 1 : 0;
      if (status == kRefusedRightly) losers.push_back(child.process());
    }
    EXPECT_EQ(owners, 1);
    EXPECT_EQ(others, kProcesses - 1);
    const std::string named = "is used by process " + get(path_ + "/owner") + " on host ";
    for (const pid_t loser : losers) {
      const std::string said = get(path_ + "/said-" + std::to_string(loser));
      EXPECT_TRUE(contains(said, named)) << said << ", not " << named;
    }
  }
}

TEST_F(AnOwnedRunDirectory, OfAKilledOwnerIsFree) {
  Gate taken;
  const Child child([&] {
    RunDirectory run = RunDirectory::open(path_);
    run.append_metrics({{"step", 1}});
    taken.say();
    pause();
    return 0;
  });
  taken.wait_for_word();
  const Error error = error_of([&] { RunDirectory::open(path_); });
  EXPECT_TRUE(contains(error.what(), "process " + std::to_string(child.process()))) << error.what();
  ASSERT_EQ(kill(child.process(), SIGKILL), 0);
  child.status();
  const RunDirectory run = RunDirectory::open(path_);
  EXPECT_TRUE(contains(get(path_ + "/lock"), std::to_string(getpid())));
  EXPECT_EQ(metrics(), "{\"step\":1}\n");
}

TEST_F(AnOwnedRunDirectory, ReplacesItsFilesWholly) {
  RunDirectory run = RunDirectory::open(path_);
  run.write_config("seed = 1\n");
  run.write_config("seed = 2\n");
  run.write_facts({{"parameters", 3}});
  EXPECT_EQ(get(path_ + "/config.toml"), "seed = 2\n");
  EXPECT_EQ(Json::parse(get(path_ + "/run.json")), Json({{"parameters", 3}}));
  system_calls().rename = [](const char*, const char*) {
    errno = EIO;
    return -1;
  };
  EXPECT_TRUE(contains(error_of([&] { run.write_config("seed = 3\n"); }).what(),
                       "'" + path_ + "/config.toml'"));
  EXPECT_EQ(get(path_ + "/config.toml"), "seed = 2\n");
}

TEST_F(AnOwnedRunDirectory, LosesTheHalfWrittenFilesOfItsLastOwner) {
  {
    RunDirectory::open(path_);
  }
  put(path_ + "/config.toml.tmp-1-0", "half");
  put(path_ + "/run.json.tmp-1-0", "half");
  put(path_ + "/notes.tmp-1-0", "mine");
  {
    RunDirectory::open(path_);
  }
  EXPECT_EQ(get(path_ + "/config.toml.tmp-1-0"), "");
  EXPECT_EQ(get(path_ + "/run.json.tmp-1-0"), "");
  EXPECT_EQ(get(path_ + "/notes.tmp-1-0"), "mine");
}

TEST_F(AnOwnedRunDirectory, WritesEachMetricsLineAtOnce) {
  RunDirectory run = RunDirectory::open(path_);
  static std::vector<std::string> writes;
  writes.clear();
  system_calls().write = [](int fd, const void* data, std::size_t size) {
    writes.emplace_back(static_cast<const char*>(data), size);
    return ::write(fd, data, size);
  };
  run.append_metrics({{"step", 1}, {"loss", 2.5}, {"text", "a\nb"}});
  run.append_metrics({{"step", 2}, {"loss", std::nan("")}});
  const std::vector<std::string> expected = {"{\"step\":1,\"loss\":2.5,\"text\":\"a\\nb\"}\n",
                                             "{\"step\":2,\"loss\":null}\n"};
  EXPECT_EQ(writes, expected);
  EXPECT_EQ(metrics(), expected[0] + expected[1]);
}

TEST_F(AnOwnedRunDirectory, ForcesItsMetricsToDiskWhenAsked) {
  RunDirectory run = RunDirectory::open(path_);
  static int forced;
  forced = 0;
  system_calls().fsync = [](int fd) {
    ++forced;
    return ::fsync(fd);
  };
  run.force_metrics();
  EXPECT_EQ(forced, 0) << "there are none";
  run.append_metrics({{"step", 1}});
  EXPECT_EQ(forced, 0);
  run.force_metrics();
  EXPECT_EQ(forced, 1);
}

TEST_F(AnOwnedRunDirectory, EndsTheLineThatACrashHasCut) {
  {
    RunDirectory::open(path_).append_metrics({{"step", 1}});
  }
  put(path_ + "/metrics.jsonl", "{\"step\":1}\n{\"st");
  {
    RunDirectory run = RunDirectory::open(path_);
    run.append_metrics({{"step", 2}});
    run.append_metrics({{"step", 3}});
  }
  EXPECT_EQ(metrics(), "{\"step\":1}\n{\"st\n{\"step\":2}\n{\"step\":3}\n");
}

TEST_F(AnOwnedRunDirectory, SaysWhenMetricsDoNotFitAndLosesNoLaterLine) {
  RunDirectory run = RunDirectory::open(path_);
  run.append_metrics({{"step", 1}});
  static int calls;
  calls = 0;
  system_calls().write = [](int fd, const void* data, std::size_t size) -> ssize_t {
    if (++calls == 1) return ::write(fd, data, size / 2);
    errno = ENOSPC;
    return -1;
  };
  const Error error = error_of([&] { run.append_metrics({{"step", 2}}); });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_TRUE(contains(error.what(), "'" + path_ + "/metrics.jsonl'")) << error.what();
  EXPECT_TRUE(contains(error.what(), "6 bytes are needed")) << error.what();
  calls = 1;
  EXPECT_THROW(run.append_metrics({{"step", 3}}), Error);
  system_calls() = saved_;
  run.append_metrics({{"step", 4}});
  EXPECT_EQ(metrics(), "{\"step\":1}\n{\"ste\n{\"step\":4}\n");
}

TEST_F(AnOwnedRunDirectory, OvercomesInterruptions) {
  RunDirectory run = RunDirectory::open(path_);
  static int calls;
  calls = 0;
  system_calls().write = [](int fd, const void* data, std::size_t) -> ssize_t {
    if (++calls % 2 == 0) return ::write(fd, data, 1);
    errno = EINTR;
    return -1;
  };
  run.append_metrics({{"step", 1}});
  system_calls() = saved_;
  EXPECT_EQ(metrics(), "{\"step\":1}\n");
}

}  // namespace
}  // namespace bcos::lab::run
