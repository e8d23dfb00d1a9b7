#pragma once

#include <cstddef>
#include <exception>
#include <mutex>

#include "engine/executor/run_tasks.hpp"

namespace bcos::lab::theory {

/// body(0) ... body(count - 1) on the library's threads, in any order. What one of them throws is
/// thrown here when all have ended.
template <class Body>
void parallel_for(std::size_t count, const Body& body) {
  struct Work {
    const Body* body;
    std::mutex mutex;
    std::exception_ptr thrown;
  } work{&body, {}, nullptr};
  const auto task = [](void* argument, std::size_t index) {
    auto& shared = *static_cast<Work*>(argument);
    try {
      (*shared.body)(index);
    } catch (...) {
      const std::lock_guard lock(shared.mutex);
      if (!shared.thrown) shared.thrown = std::current_exception();
    }
  };
  run_tasks(default_executor(), count, task, &work);
  if (work.thrown) std::rethrow_exception(work.thrown);
}

}  // namespace bcos::lab::theory
