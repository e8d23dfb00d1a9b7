#include "engine/update/host.hpp"

#include <algorithm>

#include "engine/executor/run_tasks.hpp"
#include "engine/make_room.hpp"
#include "engine/update/float_environment.hpp"
#include "engine/update/patch.hpp"

namespace bcos {

template <class T>
HostBackend<T>::HostBackend(const Executor& executor, Target target, Extents& written)
    : executor_(executor), kernels_(kernels::kernels_of<T>(target)), written_(written) {}

namespace {

constexpr std::size_t kSoon = 16;

/// Whether several tasks sum and apply each block.
template <class T>
bool has_long_blocks(const Slot<T>& slot) {
  return !slot.is_coordinate() && slot.blocks.kind() != BlockShape::Kind::lists &&
         slot.states_dense && slot.row > HostBlocks<T>::kLong;
}

/// Where tasks may cut a slot: behind whole groups of the rows that a patch takes together, if they
/// may lie apart and the groups are small next to the tensor.
template <class T>
Grid grid_of(const Slot<T>& slot) {
  const std::uint64_t together = Patch<T>::kRows * slot.row;
  if (has_long_blocks(slot)) return {slot.row, kSumChunk};
  if (!slot.is_coordinate()) return {.step = slot.states_dense ? slot.row : together};
  constexpr std::uint64_t kUsual = 512;
  if (together * 32 > slot.n) return {.step = kUsual};
  return {.step = (kUsual + together - 1) / together * together};
}

}  // namespace

template <class T>
Place HostBackend<T>::add(const Parameter& parameter, const Method& method,
                          std::string_view label) {
  Slot<T> slot(parameter, method, label);
  const std::uint64_t chunks = chunks_of(slot.n);
  const bool is_shared = has_long_blocks(slot);
  Shared shared;
  if (is_shared) {
    shared.parts.resize(slot.blocks.count() * chunks_of(slot.row));
    shared.moves.resize(slot.blocks.count());
  }
  for (Work* work : {&steps_, &norm_, &long_sums_}) work->make_room();
  make_room(slots_);
  make_room(shared_);
  make_room(rounded_, slots_.size() + 1);
  make_room(squares_, squares_.size() + chunks);
  settle();
  slot.register_in(written_);
  // Nothing below can fail.
  const Grid grid = grid_of(slot);
  steps_.add(slot.is_coordinate() ? slot.n : slot.blocks.count() * slot.row, grid);
  norm_.add(slot.n, {.step = kSumChunk});
  long_sums_.add(is_shared ? slot.n : 0, grid);
  slot.first_square = squares_.size();
  squares_.resize(squares_.size() + chunks);
  shared_.push_back(std::move(shared));
  slots_.push_back(std::move(slot));
  return {slots_.size() - 1, slots_.back().bytes_per_step()};
}

template <class T>
void HostBackend<T>::move(std::size_t index, const Parameter& parameter) {
  Slot<T>& slot = slots_[index];
  Slot<T> moved(parameter, *slot.method, slot.label);
  Extents alone;
  moved.register_in(alone);
  moved.first_square = slot.first_square;
  moved.settled = false;
  written_.remove(slot.label);
  slot = std::move(moved);
  any_moved_ = true;
}

/// Parameters that move one by one may pass through each other's old places: where they lie is
/// compared when all have moved.
template <class T>
void HostBackend<T>::settle() {
  if (!any_moved_) return;
  for (Slot<T>& slot : slots_) {
    if (!slot.settled) slot.register_in(written_);
    slot.settled = true;
  }
  any_moved_ = false;
}

template <class T>
void HostBackend<T>::bind(std::span<const Item> items) {
  settle();
  for (const Item& item : items) {
    ask_for_slot(item.slot + kSoon);
    slots_[item.slot].bind(*item.gradient, written_);
  }
}

/// The step before has driven the slots out of the caches.
template <class T>
void HostBackend<T>::ask_for_slot(std::size_t index) const {
  if (index >= slots_.size()) return;
  for (std::size_t line = 0; line < 3; ++line) {
    __builtin_prefetch(reinterpret_cast<const char*>(&slots_[index]) + 64 * line, 1);
  }
}

template <class T>
template <class Visit>
void HostBackend<T>::run(const Work& work, const Visit& visit) {
  struct Job {
    const Work& work;
    const Visit& visit;
    std::uint64_t range;
  };
  const std::uint64_t ranges = ranges_of(work.positions(), threads_of(executor_));
  Job job{work, visit, (work.positions() + ranges - 1) / ranges};
  const auto task = [](void* argument, std::size_t index) {
    const Job& job = *static_cast<const Job*>(argument);
    const DefaultFloatEnvironment environment;
    const std::uint64_t from = index * job.range;
    job.work.visit(from, std::min(from + job.range, job.work.positions()), job.visit);
  };
  run_tasks(executor_, ranges, task, &job);
}

template <class T>
void HostBackend<T>::squares(std::span<const Item> items, double scale, std::span<double> of_each) {
  for (const Item& item : items) slots_[item.slot].in_call = true;
  run(norm_, [&](std::size_t index, std::uint64_t begin, std::uint64_t end) {
    if (slots_[index].in_call) sum_squares(index, begin, end, scale);
  });
  for (std::size_t k = 0; k < items.size(); ++k) {
    Slot<T>& slot = slots_[items[k].slot];
    slot.in_call = false;
    const double* chunk = squares_.data() + slot.first_square;
    PairwiseSum<double> sum;
    for (std::size_t i = 0; i < chunks_of(slot.n); ++i) sum.add(chunk[i]);
    of_each[k] = sum.total();
  }
}

/// Chunks are counted logically, so that a norm does not depend on how its gradients lie.
template <class T>
void HostBackend<T>::sum_squares(std::size_t index, std::uint64_t begin, std::uint64_t end,
                                 double scale) {
  constexpr kernels::Recipe kSquare{false, Old::nothing, New::d_square, StepRule::sqrt};
  const auto sum = kernels_.sum[kSquare.index()];
  const Slot<T>& slot = slots_[index];
  kernels::Tile<T> tile;
  tile.ahead = kernels::prefetch_distance();
  T* const g = slot.tile.data[kernels::kG];
  for (std::uint64_t i = begin; i < end; i += kSumChunk) {
    const std::uint64_t n = std::min(kSumChunk, end - i);
    T copy[kSumChunk];
    tile.data[kernels::kG] = g + i;
    if (!slot.g_logical.dense()) {
      slot.g_logical.for_each(i, n, 1, [&](std::uint64_t k, std::int64_t at) { copy[k] = g[at]; });
      tile.data[kernels::kG] = copy;
    }
    squares_[slot.first_square + i / kSumChunk] = sum({}, tile, n, scale, nullptr).b;
  }
}

template <class T>
bool HostBackend<T>::gradient_is_zero(const Item& item) {
  const Slot<T>& slot = slots_[item.slot];
  constexpr std::uint64_t kPart = 512;
  bool zero = true;
  for (std::uint64_t i = 0; i < slot.n && zero; i += kPart) {
    slot.g_logical.for_each(i, std::min(kPart, slot.n - i), 1, [&](std::uint64_t, std::int64_t at) {
      zero &= slot.tile.data[kernels::kG][at] == 0;
    });
  }
  return zero;
}

template <class T>
void HostBackend<T>::start_at_zero(const Item& item) {
  const Slot<T>& slot = slots_[item.slot];
  for (const Stream s : {kernels::kM, kernels::kV, kernels::kU}) {
    if (T* const state = slot.tile.data[s]; state != nullptr) {
      slot.strides[s].for_each(0, slot.strides[s].size(), 1,
                               [&](std::uint64_t, std::int64_t at) { state[at] = 0; });
    }
  }
}

template <class T>
void HostBackend<T>::round_numbers(std::span<const Item> items) {
  rounded_.clear();
  const StepNumbers* last = nullptr;
  for (const Item& item : items) {
    ask_for_slot(item.slot + kSoon);
    Slot<T>& slot = slots_[item.slot];
    if (item.numbers != last) rounded_.emplace_back(*item.numbers, *slot.method);
    last = item.numbers;
    slot.step = &rounded_.back();
  }
}

template <class T>
void HostBackend<T>::step(std::span<const Item> items) {
  const DefaultFloatEnvironment environment;
  round_numbers(items);
  if (long_sums_.positions() > 0) share_long_blocks(items);
  run(steps_, [&](std::size_t index, std::uint64_t begin, std::uint64_t end) {
    const Slot<T>& slot = slots_[index];
    if (slot.step == nullptr) return;
    if (slot.is_coordinate()) {
      step_coordinates(index, begin, end);
    } else {
      step_blocks(index, begin, end);
    }
  });
  for (const Item& item : items) slots_[item.slot].step = nullptr;
}

template <class T>
void HostBackend<T>::share_long_blocks(std::span<const Item> items) {
  run(long_sums_, [&](std::size_t index, std::uint64_t begin, std::uint64_t end) {
    if (slots_[index].step == nullptr || !shares_blocks(index)) return;
    HostBlocks<T>(kernels_, slots_[index]).sum_parts(begin, end, shared_[index].parts);
  });
  for (const Item& item : items) {
    if (!shares_blocks(item.slot)) continue;
    Shared& shared = shared_[item.slot];
    HostBlocks<T>(kernels_, slots_[item.slot]).find_moves(shared.parts, shared.moves);
  }
}

template <class T>
void HostBackend<T>::step_coordinates(std::size_t index, std::uint64_t begin,
                                      std::uint64_t end) const {
  const Slot<T>& slot = slots_[index];
  const auto kernel = kernels_.coordinate[slot.step->recipe.index()];
  if (slot.in_place) {
    if (index + 1 < slots_.size()) ask_for_first_lines(slots_[index + 1]);
    kernel(slot.step->c, begin == 0 ? slot.tile : slot.tile.from(begin), end - begin);
    return;
  }
  Patch<T>(slot).for_each(begin, end, [&](const kernels::Tile<T>& tile, std::uint64_t n) {
    kernel(slot.step->c, tile, n);
  });
}

/// Small tensors lie anywhere: the next one's memory is asked for while this one is stepped.
template <class T>
void HostBackend<T>::ask_for_first_lines(const Slot<T>& slot) const {
  for (const Stream s : {kernels::kX, kernels::kG, kernels::kM}) {
    // Not a pointer: there may be no such stream, and asking for what is not there does no harm.
    const auto begin = reinterpret_cast<std::uintptr_t>(slot.tile.data[s]);
    for (std::uintptr_t line = begin; line < begin + 4 * 64; line += 64) {
      __builtin_prefetch(reinterpret_cast<const void*>(line), 1);
    }
  }
}

template <class T>
void HostBackend<T>::step_blocks(std::size_t index, std::uint64_t begin, std::uint64_t end) {
  const Slot<T>& slot = slots_[index];
  if (shares_blocks(index)) {
    HostBlocks<T>(kernels_, slot).apply(shared_[index].moves, begin, end);
    return;
  }
  // Of a block that several tasks share, though its gradient is strided in this step, the task that
  // holds the first element steps the whole.
  const std::uint64_t first = (begin + slot.row - 1) / slot.row;
  const std::uint64_t last = (end + slot.row - 1) / slot.row;
  HostBlocks<T>(kernels_, slot).step(first, last);
}

template class HostBackend<float>;
template class HostBackend<double>;

}  // namespace bcos
