#include "bcos/executor.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string_view>

#include "engine/error.hpp"
#include "engine/executor/pool.hpp"
#include "engine/executor/run_tasks.hpp"

namespace bcos {
namespace {

int threads_from_environment() {
  const char* text = std::getenv("BCOS_NUM_THREADS");
  if (text == nullptr || *text == '\0') return 0;
  const std::string_view digits(text);
  int threads = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), threads);
  if (error != std::errc() || end != digits.end() || threads < 1 || threads > kMostThreads) {
    throw fail("default_threads", "expected BCOS_NUM_THREADS in 1..{} but received '{}'",
               kMostThreads, digits);
  }
  return threads;
}

int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  const int count = CPU_COUNT(&set);
  return count < 1 ? 1 : count;
}

/// The process's pool. It is made at first use and never destroyed: threads may still be asleep in
/// it when the process ends.
struct Shared {
  std::mutex making;
  std::atomic<Pool*> pool{nullptr};
  std::atomic<int> threads{0};
};

Shared& shared() {
  static Shared instance;
  return instance;
}

/// Threads do not survive fork(); the child forgets the pool and makes its own when it needs one.
void forget_pool_in_child() {
  new (&shared().making) std::mutex;
  shared().pool.store(nullptr, std::memory_order_relaxed);
}

Pool& default_pool() {
  Shared& s = shared();
  if (Pool* pool = s.pool.load(std::memory_order_acquire)) return *pool;
  static const int registered = pthread_atfork(nullptr, nullptr, forget_pool_in_child);
  (void)registered;
  const std::lock_guard<std::mutex> lock(s.making);
  if (Pool* pool = s.pool.load(std::memory_order_relaxed)) return *pool;
  Pool* pool = new Pool(default_threads());
  s.pool.store(pool, std::memory_order_release);
  return *pool;
}

}  // namespace

int default_threads() {
  Shared& s = shared();
  int threads = s.threads.load(std::memory_order_relaxed);
  if (threads == 0) {
    threads = threads_from_environment();
    if (threads == 0) threads = usable_cpus();
    s.threads.store(threads, std::memory_order_relaxed);
  }
  return threads;
}

void set_default_threads(int threads) {
  if (threads < 1 || threads > kMostThreads) {
    throw fail("set_default_threads", "expected threads in 1..{} but received {}", kMostThreads,
               threads);
  }
  Shared& s = shared();
  const std::lock_guard<std::mutex> lock(s.making);
  s.threads.store(threads, std::memory_order_relaxed);
  delete s.pool.exchange(nullptr);
}

Executor default_executor() {
  const auto run = [](void*, std::size_t count, Executor::Task task, void* argument) {
    default_pool().run(count, 0, task, argument);
  };
  return {run, nullptr, default_threads()};
}

std::size_t threads_of(const Executor& executor) {
  if (executor.threads > 0) return static_cast<std::size_t>(executor.threads);
  const auto pool = static_cast<std::size_t>(default_threads());
  return executor.run == nullptr ? pool : std::max<std::size_t>(pool, 2);
}

void run_tasks(const Executor& executor, std::size_t count, Executor::Task task, void* argument) {
  if (count < 2 || executor.threads == 1) {
    for (std::size_t i = 0; i < count; ++i) task(argument, i);
  } else if (executor.run != nullptr) {
    executor.run(executor.context, count, task, argument);
  } else {
    default_pool().run(count, executor.threads, task, argument);
  }
}

}  // namespace bcos
