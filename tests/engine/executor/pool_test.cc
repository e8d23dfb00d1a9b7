#include "engine/executor/pool.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <numeric>
#include <thread>

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
                       counts_of({}, 64) == std::vector<int>(64, 1);
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
