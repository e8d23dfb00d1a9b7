#pragma once

#include "bcos/executor.hpp"

namespace bcos {

/// Runs the tasks on the executor; a single task, or a single thread, runs where it is called.
void run_tasks(const Executor& executor, std::size_t count, Executor::Task task, void* argument);

}  // namespace bcos
