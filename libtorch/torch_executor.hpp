#pragma once

#include <torch/csrc/stable/c/shim.h>

#include <cstddef>
#include <cstdint>

#include "bcos/executor.hpp"

namespace bcos::libtorch {

/// torch's own threads for the engine, so that there is one pool in the process.
inline Executor torch_executor() {
  struct Job {
    Executor::Task task;
    void* argument;
  };
  const auto run = [](void* /*context*/, std::size_t count, Executor::Task task, void* argument) {
    Job job{task, argument};
    const auto range = [](std::int64_t begin, std::int64_t end, void* context) {
      const Job& job = *static_cast<const Job*>(context);
      for (std::int64_t i = begin; i < end; ++i) {
        job.task(job.argument, static_cast<std::size_t>(i));
      }
    };
    torch_parallel_for(0, static_cast<std::int64_t>(count), 1, range, &job);
  };
  return {.run = run};
}

}  // namespace bcos::libtorch
