#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <utility>

namespace bcos::lab::loop {

/// Batches made one ahead on another thread, so that the model does not wait for its data.
template <class Batch>
class Ahead {
 public:
  /// `fill` makes the batch of a step and a part; it is called from one thread at a time.
  Ahead(std::uint64_t parts, std::function<void(std::uint64_t, std::uint64_t, Batch&)> fill)
      : parts_(parts), fill_(std::move(fill)) {}

  ~Ahead() {
    if (coming_.valid()) coming_.wait();
  }

  Batch take(std::uint64_t step, std::uint64_t part) {
    if (!coming_.valid() || step != step_ || part != part_) {
      if (coming_.valid()) coming_.wait();
      start(step, part);
    }
    Batch batch = coming_.get();
    const bool last = part + 1 == parts_;
    start(last ? step + 1 : step, last ? 0 : part + 1);
    return batch;
  }

 private:
  void start(std::uint64_t step, std::uint64_t part) {
    step_ = step;
    part_ = part;
    coming_ = std::async(std::launch::async, [this, step, part] {
      Batch batch;
      fill_(step, part, batch);
      return batch;
    });
  }

  std::uint64_t parts_;
  std::function<void(std::uint64_t, std::uint64_t, Batch&)> fill_;
  std::future<Batch> coming_;
  std::uint64_t step_ = 0;
  std::uint64_t part_ = 0;
};

}  // namespace bcos::lab::loop
