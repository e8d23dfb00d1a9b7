#include "engine/executor/pool.hpp"

#include <chrono>
#include <system_error>

namespace bcos {
namespace {

constexpr auto kSpin = std::chrono::microseconds(30);

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits until the value is no longer `old`: a short spin, then sleep.
std::uint64_t wait_for_change(const std::atomic<std::uint64_t>& value, std::uint64_t old) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 64; ++i) {
      const std::uint64_t now = value.load(std::memory_order_acquire);
      if (now != old) return now;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

}  // namespace

Pool::Pool(int threads) {
  workers_.reserve(static_cast<std::size_t>(threads));
  bool more = true;
  for (int i = 1; i < threads && more; ++i) {
    try {
      workers_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      more = false;  // the system gives no more: those that there are will do
    }
  }
}

Pool::~Pool() {
  stop_.store(true, std::memory_order_relaxed);
  gate_.fetch_add(kJob, std::memory_order_release);
  gate_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Pool::run(std::size_t count, int threads, Executor::Task task, void* argument) {
  const std::unique_lock<std::mutex> mine(busy_, std::try_to_lock);
  if (!mine.owns_lock() || count < 2 || threads == 1 || workers_.empty()) {
    for (std::size_t i = 0; i < count; ++i) task(argument, i);
    return;
  }
  task_ = task;
  argument_ = argument;
  count_.store(count, std::memory_order_relaxed);
  helpers_.store(threads > 0 ? static_cast<std::uint64_t>(threads - 1) : workers_.size(),
                 std::memory_order_relaxed);
  next_.store(0, std::memory_order_relaxed);
  gate_.fetch_add(kJob | kOpen, std::memory_order_release);
  gate_.notify_all();

  take_tasks();

  std::uint64_t gate = gate_.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
  while ((gate & kInsideMask) != 0) gate = wait_for_change(gate_, gate);
}

void Pool::work() {
  std::uint64_t seen = 0;
  while (!stop_.load(std::memory_order_relaxed)) {
    if (enter(seen)) {
      take_tasks();
      const std::uint64_t left = gate_.fetch_sub(kInside, std::memory_order_acq_rel) - kInside;
      seen = left;
      if ((left & (kInsideMask | kOpen)) == 0) gate_.notify_all();
    } else {
      seen = wait_for_change(gate_, seen);
    }
  }
}

/// Joins the job whose gate is open, unless it has helpers enough or no tasks left.
bool Pool::enter(std::uint64_t& seen) {
  std::uint64_t gate = gate_.load(std::memory_order_acquire);
  while ((gate & kOpen) != 0 &&
         (gate & kInsideMask) / kInside < helpers_.load(std::memory_order_relaxed) &&
         next_.load(std::memory_order_relaxed) < count_.load(std::memory_order_relaxed)) {
    if (gate_.compare_exchange_weak(gate, gate + kInside, std::memory_order_acq_rel)) return true;
  }
  seen = gate;
  return false;
}

void Pool::take_tasks() {
  const std::size_t count = count_.load(std::memory_order_relaxed);
  for (;;) {
    const std::size_t i = next_.fetch_add(1, std::memory_order_relaxed);
    if (i >= count) return;
    task_(argument_, i);
  }
}

}  // namespace bcos
