#pragma once

#include <cstddef>

#include "bcos/export.hpp"

namespace bcos {

/// Runs task(argument, 0) ... task(argument, count - 1), in any order and on any threads, and
/// returns when all have returned. Tasks do not throw. Results never depend on the order.
struct Executor {
  using Task = void (*)(void* argument, std::size_t index);
  using Run = void (*)(void* context, std::size_t count, Task task, void* argument);

  Run run = nullptr;  ///< null: the library's own pool
  void* context = nullptr;
  int threads = 0;  ///< how many threads may take part; 0: as many as the pool has
};

/// The library's pool: persistent threads, shared by the process, one caller at a time (a second
/// one meanwhile runs its own tasks itself). Sized by BCOS_NUM_THREADS or the CPUs this process may
/// use; made anew in a child after fork().
BCOS_API Executor default_executor();
BCOS_API int default_threads();

inline constexpr int kMostThreads = 1024;

/// Changes the number of threads of the pool, 1 to kMostThreads. Not while it runs.
BCOS_API void set_default_threads(int threads);

}  // namespace bcos
