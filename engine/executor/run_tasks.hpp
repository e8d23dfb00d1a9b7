#pragma once

#include "bcos/executor.hpp"

namespace bcos {

/// How many threads will take part; a guess, but several, for another's executor that does not say.
std::size_t threads_of(const Executor& executor);

/// Runs the tasks on the executor; a single task, or a single thread, runs where it is called.
void run_tasks(const Executor& executor, std::size_t count, Executor::Task task, void* argument);

}  // namespace bcos
