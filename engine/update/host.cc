#include "engine/update/host.hpp"

#include <algorithm>

#include "engine/executor/run_tasks.hpp"
#include "engine/make_room.hpp"
#include "engine/update/float_environment.hpp"
#include "engine/update/window.hpp"

namespace bcos {

template <class T>
HostBackend<T>::HostBackend(const Executor& executor, Target target, Extents& written)
    : executor_(executor),
      kernels_(kernels::kernels_of<T>(target)),
      ahead_(kernels::prefetch_distance()),
      written_(written),
      blocks_(kernels_, ahead_) {}

template <class T>
bool HostBackend<T>::has_long_blocks(const Slot<T>& slot) const {
  return slot.blocks.kind() == BlockShape::Kind::contiguous && slot.states_dense &&
         slot.blocks.usual_length() > HostBlocks<T>::kLong;
}

template <class T>
Place HostBackend<T>::add(const Parameter& parameter, const Method& method,
                          std::string_view label) {
  Slot<T> slot(parameter, method, label);
  make_room_for(slot);
  settle();
  slot.register_in(written_);
  // Nothing below can fail.
  const std::uint64_t length = slot.blocks.usual_length();
  const std::uint64_t count = slot.blocks.count();
  norm_.add(slot.n, {std::max<std::uint64_t>(slot.n, 1), kSumChunk});
  long_of_slot_.push_back(kNone);
  if (slot.blocks.kind() == BlockShape::Kind::coordinate) {
    steps_.add(slot.n, {std::max<std::uint64_t>(slot.n, 1), rows_step(slot)});
  } else if (has_long_blocks(slot)) {
    steps_.add(slot.n, {length, kSumChunk});
    long_sums_.add(slot.n, {length, kSumChunk});
    long_of_slot_.back() = long_.size();
    long_.push_back({slots_.size(), parts_.size(), moves_.size()});
    parts_.resize(parts_.size() + count * chunks_of(length));
    moves_.resize(moves_.size() + count);
  } else {
    const bool columns = slot.blocks.kind() == BlockShape::Kind::columns;
    steps_.add(count * length, {count * length, columns ? length * blocks_.kTogether : length});
  }
  first_square_.push_back(squares_.size());
  squares_.resize(squares_.size() + chunks_of(slot.n));
  slots_.push_back(std::move(slot));
  return {slots_.size() - 1, slots_.back().bytes_per_step()};
}

/// Where ranges of coordinates end: behind whole groups of the rows that a window takes together,
/// if those are small next to the tensor.
template <class T>
std::uint64_t HostBackend<T>::rows_step(const Slot<T>& slot) {
  constexpr std::uint64_t kUsual = 512;
  if (slot.shape.empty() || slot.n == 0) return kUsual;
  const std::uint64_t rows = Window<T>::kRows * static_cast<std::uint64_t>(slot.shape.back());
  const std::uint64_t columns = Window<T>::kRows * static_cast<std::uint64_t>(slot.shape.front());
  const std::uint64_t group = slot.x_strides.dense() ? rows : columns;
  if (group * 32 > slot.n) return kUsual;
  return (kUsual + group - 1) / group * group;
}

/// For all that one more slot needs, in steps too.
template <class T>
void HostBackend<T>::make_room_for(const Slot<T>& slot) {
  for (Work* work : {&steps_, &norm_, &long_sums_}) work->make_room();
  bcos::make_room(slots_);
  bcos::make_room(rounded_, slots_.size() + 1);
  bcos::make_room(long_);
  bcos::make_room(long_of_slot_);
  bcos::make_room(first_square_);
  bcos::make_room(squares_, squares_.size() + chunks_of(slot.n));
  if (!has_long_blocks(slot)) return;
  const std::uint64_t count = slot.blocks.count();
  bcos::make_room(parts_, parts_.size() + count * chunks_of(slot.blocks.usual_length()));
  bcos::make_room(moves_, moves_.size() + count);
}

template <class T>
void HostBackend<T>::move(std::size_t index, const Parameter& parameter) {
  Slot<T>& slot = slots_[index];
  Slot<T> moved(parameter, *slot.method, slot.label);
  Extents alone;
  moved.register_in(alone);
  bcos::make_room(moved_);
  written_.remove(slot.label);
  slot = std::move(moved);
  if (!std::ranges::count(moved_, index)) moved_.push_back(index);
}

/// Parameters that move one by one may pass through each other's old places: where they lie is
/// compared when all have moved.
template <class T>
void HostBackend<T>::settle() {
  for (; !moved_.empty(); moved_.pop_back()) slots_[moved_.back()].register_in(written_);
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
  if (index < slots_.size()) __builtin_prefetch(&slots_[index], 1);
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
    const double* chunk = squares_.data() + first_square_[items[k].slot];
    PairwiseSum sum;
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
  const Strides& strides = slot.g_strides;
  kernels::Tile<T> tile;
  tile.ahead = ahead_;
  for (std::uint64_t i = begin; i < end; i += kSumChunk) {
    const std::uint64_t n = std::min(kSumChunk, end - i);
    T gathered[kSumChunk];
    tile.g = slot.g + i;
    if (!strides.dense()) {
      gather(slot.g, strides, i, n, gathered);
      tile.g = gathered;
    }
    squares_[first_square_[index] + i / kSumChunk] = sum({}, tile, n, scale, nullptr).b;
  }
}

template <class T>
bool HostBackend<T>::gradient_is_zero(const Item& item) {
  const Slot<T>& slot = slots_[item.slot];
  constexpr std::size_t kPart = 512;
  T part[kPart];
  for (std::uint64_t i = 0; i < slot.n; i += kPart) {
    const std::size_t n = std::min<std::uint64_t>(kPart, slot.n - i);
    gather(slot.g, slot.g_strides, i, n, part);
    if (std::any_of(part, part + n, [](T value) { return value != 0; })) return false;
  }
  return true;
}

template <class T>
void HostBackend<T>::start_at_zero(const Item& item) {
  const Slot<T>& slot = slots_[item.slot];
  constexpr std::size_t kPart = 512;
  const T zeros[kPart] = {};
  const auto clear = [&](T* state, const Strides& strides) {
    for (std::uint64_t i = 0; state != nullptr && i < strides.size(); i += kPart) {
      scatter(zeros, strides, i, std::min<std::uint64_t>(kPart, strides.size() - i), state);
    }
  };
  clear(slot.m, slot.m_strides);
  clear(slot.v, slot.v_strides);
  clear(slot.u, slot.u_strides);
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
  if (!long_.empty()) {
    run(long_sums_, [&](std::size_t k, std::uint64_t begin, std::uint64_t end) {
      const Slot<T>& slot = slots_[long_[k].slot];
      if (!takes_long_blocks(slot)) return;
      blocks_.sum_parts(slot, begin, end, std::span(parts_).subspan(long_[k].first_part));
    });
    find_long_moves();
  }
  run(steps_, [&](std::size_t index, std::uint64_t begin, std::uint64_t end) {
    const Slot<T>& slot = slots_[index];
    if (slot.step == nullptr) return;
    if (slot.blocks.kind() == BlockShape::Kind::coordinate) {
      step_coordinates(index, begin, end);
    } else {
      step_blocks(index, begin, end);
    }
  });
  for (const Item& item : items) slots_[item.slot].step = nullptr;
}

template <class T>
void HostBackend<T>::step_coordinates(std::size_t index, std::uint64_t begin,
                                      std::uint64_t end) const {
  const Slot<T>& slot = slots_[index];
  const auto kernel = kernels_.coordinate[slot.step->recipe.index()];
  if (slot.in_place) {
    kernels::Tile<T> tile = tile_of(slot).from(begin);
    tile.ahead = ahead_;
    if (end == slot.n && index + 1 < slots_.size()) ask_for_first_lines(slots_[index + 1]);
    kernel(slot.step->c, tile, end - begin);
    return;
  }
  Window<T>(slot, ahead_).run(begin, end, [&](const kernels::Tile<T>& tile, std::size_t n) {
    kernel(slot.step->c, tile, n);
  });
}

/// Small tensors lie anywhere: the next one's memory is asked for while this one is stepped.
template <class T>
void HostBackend<T>::ask_for_first_lines(const Slot<T>& slot) const {
  for (const T* stream : {static_cast<const T*>(slot.x), slot.g, static_cast<const T*>(slot.m)}) {
    for (std::size_t line = 0; line < 4; ++line) {
      __builtin_prefetch(reinterpret_cast<const char*>(stream) + 64 * line, 1);
    }
  }
}

/// Long blocks are counted in elements, others in positions of usual_length() each.
template <class T>
void HostBackend<T>::step_blocks(std::size_t index, std::uint64_t begin, std::uint64_t end) {
  const Slot<T>& slot = slots_[index];
  const std::uint64_t length = slot.blocks.usual_length();
  if (long_of_slot_[index] == kNone || !slot.has_dense_blocks()) {
    // Of a block that several tasks share, though its gradient is strided in this step, the task
    // that holds the first element steps the whole.
    blocks_.step(slot, (begin + length - 1) / length, (end + length - 1) / length);
    return;
  }
  const std::size_t first_move = long_[long_of_slot_[index]].first_move;
  while (begin < end) {
    const std::uint64_t k = begin / length;
    const std::uint64_t until = std::min(end, (k + 1) * length);
    blocks_.apply(slot, moves_[first_move + k], begin, until);
    begin = until;
  }
}

template <class T>
void HostBackend<T>::find_long_moves() {
  for (const LongBlocks& blocks : long_) {
    const Slot<T>& slot = slots_[blocks.slot];
    if (!takes_long_blocks(slot)) continue;
    const std::size_t chunks = chunks_of(slot.blocks.usual_length());
    for (std::uint64_t k = 0; k < slot.blocks.count(); ++k) {
      const auto parts = std::span(parts_).subspan(blocks.first_part + k * chunks, chunks);
      moves_[blocks.first_move + k] = blocks_.move_of_parts(slot, k, parts);
    }
  }
}

template class HostBackend<float>;
template class HostBackend<double>;

}  // namespace bcos
