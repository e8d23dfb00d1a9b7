#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "bcos/executor.hpp"

namespace bcos {

/// Persistent threads that take the tasks of one job at a time, as they become free.
/// Idle threads spin for some microseconds, then sleep.
class Pool {
 public:
  /// `threads` take part in a job, the caller being one of them.
  explicit Pool(int threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  /// Runs all tasks; if the pool is at work for somebody else, on the calling thread alone.
  void run(std::size_t count, int threads, Executor::Task task, void* argument);

 private:
  /// Workers may join a job while its gate is open. The gate packs a job number, how many workers
  /// are inside, and whether it is open, so that closing it tells exactly whom to wait for: one
  /// that the system has not woken yet is not waited for.
  static constexpr std::uint64_t kOpen = 1;
  static constexpr std::uint64_t kInside = 2;
  static constexpr std::uint64_t kInsideMask = 0xfffe;
  static constexpr std::uint64_t kJob = 0x10000;

  void work();
  bool enter(std::uint64_t& seen);
  void take_tasks();

  std::vector<std::thread> workers_;
  std::mutex busy_;
  alignas(64) std::atomic<std::uint64_t> gate_{0};
  alignas(64) std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::atomic<std::size_t> count_{0};
  std::atomic<std::uint64_t> helpers_{0};
  Executor::Task task_ = nullptr;
  void* argument_ = nullptr;
};

}  // namespace bcos
