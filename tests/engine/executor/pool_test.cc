#include "engine/executor/pool.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include "bcos/error.hpp"
#include "bcos/executor.hpp"
#include "engine/executor/run_tasks.hpp"
#include "tests/engine/expect_error.hpp"

namespace bcos {
namespace {

/// Runs `count` tasks and says how often each ran.
std::vector<int> counts_of(const Executor& executor, std::size_t count) {
  std::vector<std::atomic<int>> ran(count);
  run_tasks(
      executor, count,
      [](void* argument, std::size_t i) {
        ++(*static_cast<std::vector<std::atomic<int>>*>(argument))[i];
      },
      &ran);
  return {ran.begin(), ran.end()};
}

/// Tasks that wait for each other. Then the caller of the pool leaves at once, and the rest later.
struct Meeting {
  std::size_t wanted;
  std::chrono::milliseconds later{0};
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<std::size_t> here{0};
  std::atomic<std::size_t> done{0};
  std::atomic<bool> late{false};

  /// Whether all of them ran at once.
  bool held() {
    run_tasks(
        {}, wanted, [](void* argument, std::size_t) { static_cast<Meeting*>(argument)->attend(); },
        this);
    return !late;
  }

 private:
  void attend() {
    ++here;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (here < wanted && !late) {
      if (std::chrono::steady_clock::now() > end) late = true;
      std::this_thread::yield();
    }
    if (std::this_thread::get_id() != caller) std::this_thread::sleep_for(later);
    ++done;
  }
};

TEST(ThePool, RunsEveryTaskOnce) {
  for (const int threads : {1, 2, 3, 7}) {
    set_default_threads(threads);
    EXPECT_EQ(default_threads(), threads);
    for (const std::size_t count : {0U, 1U, 2U, 100U, 1000U}) {
      EXPECT_EQ(counts_of({}, count), std::vector<int>(count, 1));
    }
  }
  set_default_threads(2);
}

TEST(ThePool, WakesUpAfterItSlept) {
  set_default_threads(4);
  for (int round = 0; round < 20; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(counts_of({}, 50), std::vector<int>(50, 1));
  }
  set_default_threads(2);
}

TEST(ThePool, ServesSeveralCallersAtOnceAndNestedOnes) {
  set_default_threads(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 8; ++k) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        if (counts_of({}, 40) != std::vector<int>(40, 1)) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
  run_tasks(
      {}, 4, [](void*, std::size_t) { EXPECT_EQ(counts_of({}, 5), std::vector<int>(5, 1)); },
      nullptr);
  set_default_threads(2);
}

TEST(ThePool, RunsAsManyTasksAtOnceAsItHasThreads) {
  for (const std::size_t threads : {2U, 3U}) {
    set_default_threads(static_cast<int>(threads));
    EXPECT_TRUE(Meeting{threads}.held()) << threads;
  }
  set_default_threads(2);
}

TEST(ThePool, ReturnsWhenTheLastTaskIsDone) {
  set_default_threads(3);
  Meeting meeting{3, std::chrono::milliseconds(20)};
  EXPECT_TRUE(meeting.held());
  EXPECT_EQ(meeting.done, 3U);
  set_default_threads(2);
}

TEST(ThePool, LendsNoMoreThreadsThanAreAskedFor) {
  set_default_threads(4);
  struct Seen {
    std::mutex mutex;
    std::set<std::thread::id> threads;
  } seen;
  run_tasks(
      {.threads = 2}, 50,
      [](void* argument, std::size_t) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        auto& seen = *static_cast<Seen*>(argument);
        const std::lock_guard<std::mutex> lock(seen.mutex);
        seen.threads.insert(std::this_thread::get_id());
      },
      &seen);
  EXPECT_LE(seen.threads.size(), 2U);
  EXPECT_TRUE(seen.threads.contains(std::this_thread::get_id()));
  set_default_threads(2);
}

TEST(ThePool, RefusesSillySizes) {
  EXPECT_EQ(testing::error_of([] { set_default_threads(0); }),
            "[set_default_threads] expected threads in 1..1024 but received 0");
}

#if !defined(__SANITIZE_THREAD__)
TEST(ThePool, IsUsableBeforeAndAfterFork) {
  set_default_threads(3);
  ASSERT_EQ(counts_of({}, 64), std::vector<int>(64, 1));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool right = counts_of({}, 64) == std::vector<int>(64, 1) &&
                       counts_of({}, 64) == std::vector<int>(64, 1) && Meeting{2}.held();
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(counts_of({}, 64), std::vector<int>(64, 1));
  set_default_threads(2);
}
#endif

/// The environment is read once in a process: each number has one of its own.
TEST(TheEnvironment, GivesANumberOfThreadsOrIsRefusedByName) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto exit_with_threads = [](const char* text) {
    setenv("BCOS_NUM_THREADS", text, 1);
    try {
      std::exit(default_threads());
    } catch (const Error& error) {
      std::fputs(error.what(), stderr);
      std::exit(255);
    }
  };
  EXPECT_EXIT(exit_with_threads("7"), ::testing::ExitedWithCode(7), "");
  for (const char* wrong : {"0", "-1", "4x", "x", "1025"}) {
    EXPECT_EXIT(exit_with_threads(wrong), ::testing::ExitedWithCode(255),
                "expected BCOS_NUM_THREADS in 1..1024 but received");
  }
}

TEST(ACallersExecutor, IsGivenAllTasks) {
  struct Counter {
    std::size_t tasks = 0;
  } counter;
  const Executor executor{
      [](void* context, std::size_t count, Executor::Task task, void* argument) {
        static_cast<Counter*>(context)->tasks += count;
        for (std::size_t i = count; i-- > 0;) task(argument, i);
      },
      &counter, 4};
  EXPECT_EQ(counts_of(executor, 9), std::vector<int>(9, 1));
  EXPECT_EQ(counter.tasks, 9U);
}

}  // namespace
}  // namespace bcos
