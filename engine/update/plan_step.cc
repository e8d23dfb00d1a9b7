#include <algorithm>

#include "engine/executor/run_tasks.hpp"
#include "engine/update/float_environment.hpp"
#include "engine/update/plan_impl.hpp"

/// The work of a step, a piece at a time.
namespace bcos {

void Plan::Impl::find_numbers(std::span<const double> alphas, std::span<const std::uint64_t> steps,
                              double factor) {
  block_steps_f32_.clear();
  block_steps_f64_.clear();
  constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t last[2] = {kNone, kNone};
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    TensorHead& head = heads_[i];
    if (!head.in_step) continue;
    const bool narrow = head.dtype == DType::f32;
    std::size_t& same = last[narrow ? 0 : 1];
    if (same != kNone && heads_[same].group == head.group && steps[same] == steps[i]) {
      head.numbers = heads_[same].numbers;
      continue;
    }
    const Method& method = methods_[head.group];
    const StepNumbers numbers = step_numbers(method, alphas[head.group], steps[i], factor);
    if (narrow) {
      head.numbers = static_cast<std::uint32_t>(block_steps_f32_.size());
      block_steps_f32_.push_back(make_step<float>(numbers, method));
    } else {
      head.numbers = static_cast<std::uint32_t>(block_steps_f64_.size());
      block_steps_f64_.push_back(make_step<double>(numbers, method));
    }
    same = i;
  }
}

void Plan::Impl::run(const TaskList& list, Work work) {
  const std::size_t threads = threads_of(executor_);
  if (threads == 1 || list.elements() < kWorthThreads) {
    run_pieces(list.pieces(), work);
    return;
  }
  struct Job {
    Impl* plan;
    const TaskList* list;
    std::size_t at_once;
    Work work;
  } job{this, &list, tasks_at_once(list.tasks(), threads), work};
  const auto task = [](void* argument, std::size_t index) {
    const Job& job = *static_cast<const Job*>(argument);
    const std::size_t first = index * job.at_once;
    const std::size_t last = std::min(first + job.at_once, job.list->tasks());
    job.plan->run_pieces(job.list->pieces_of(first, last), job.work);
  };
  run_tasks(executor_, (list.tasks() + job.at_once - 1) / job.at_once, task, &job);
}

void Plan::Impl::run_pieces(std::span<const Piece> pieces, Work work) {
  const DefaultFloatEnvironment environment;
  for_each_joined(pieces, [&](const Piece& piece) {
    if (heads_[piece.tensor].in_step) (this->*work)(piece);
  });
}

void Plan::Impl::sum_large(const Piece& piece) {
  const PlannedTensor& tensor = tensors_[piece.tensor];
  tensor.dtype == DType::f32 ? sum_large_of<float>(tensor, piece)
                             : sum_large_of<double>(tensor, piece);
}

template <class T>
void Plan::Impl::sum_large_of(const PlannedTensor& tensor, const Piece& piece) {
  const BlockStep<T>& step = block_steps<T>()[heads_[tensor.index].numbers];
  if (!kernels::needs_sums(step.recipe.estimate)) return;
  const BoundStreams<T> streams = tensor.streams<T>();
  if (!streams.dense) return;
  const std::uint64_t length = tensor.blocks.length(0);
  for (std::uint64_t i = piece.begin, count = 0; i < piece.end; i += count) {
    const std::uint64_t k = i / length;
    count = std::min({kSumChunk, (k + 1) * length - i, piece.end - i});
    kernels::Sums sums;
    step.kernels->add_sums[step.recipe.index()](step.coefficients, streams.base.block_from(i),
                                                count, 1.0, sums);
    const std::uint64_t chunk = (i - k * length) / kSumChunk;
    large_sums_[tensor.large_chunk + k * chunks_of(length) + chunk] = combined(sums);
  }
}

void Plan::Impl::find_large_moves() {
  for (const PlannedTensor& tensor : tensors_) {
    if (!tensor.large || !heads_[tensor.index].in_step) continue;
    tensor.dtype == DType::f32 ? find_large_moves_of<float>(tensor)
                               : find_large_moves_of<double>(tensor);
  }
}

template <class T>
void Plan::Impl::find_large_moves_of(const PlannedTensor& tensor) {
  const BoundStreams<T> streams = tensor.streams<T>();
  if (!streams.dense) return;
  const std::uint64_t length = tensor.blocks.length(0);
  for (std::uint64_t k = 0; k < tensor.blocks.count(); ++k) {
    const std::span<const BlockSums> chunks(
        large_sums_.data() + tensor.large_chunk + k * chunks_of(length), chunks_of(length));
    large_moves<T>()[tensor.first_move + k] = large_block_move<T>(
        block_steps<T>()[heads_[tensor.index].numbers], streams.base, k, length, chunks);
  }
}

void Plan::Impl::step(const Piece& piece) {
  const TensorHead& head = heads_[piece.tensor];
  if (head.ordinary) {
    head.dtype == DType::f32 ? step_ordinary<float>(head, piece)
                             : step_ordinary<double>(head, piece);
    return;
  }
  const PlannedTensor& tensor = tensors_[piece.tensor];
  tensor.dtype == DType::f32 ? step_of<float>(tensor, piece) : step_of<double>(tensor, piece);
}

template <class T>
void Plan::Impl::step_ordinary(const TensorHead& head, const Piece& piece) {
  const BlockStep<T>& step = block_steps<T>()[head.numbers];
  kernels::Streams<T> s = head.streams<T>().from(piece.begin);
  kernels::Streams<T> next;
  const bool last = piece.end < head.n || piece.tensor + 1 == heads_.size();
  if (!last && heads_[piece.tensor + 1].in_step) {
    next = heads_[piece.tensor + 1].streams<T>();
    const std::uint64_t n = piece.end - piece.begin;
    // What lies right behind is asked for anyway.
    const auto behind = [n](const T* stream, const T* following) {
      return stream == nullptr || following == stream + n;
    };
    const bool all =
        behind(s.x, next.x) && behind(s.g, next.g) && behind(s.m, next.m) && behind(s.v, next.v);
    if (!all) s.next = &next;
  }
  step.kernels->coordinate[step.recipe.index()](step.coefficients, s, piece.end - piece.begin);
}

template <class T>
void Plan::Impl::step_of(const PlannedTensor& tensor, const Piece& piece) {
  if (tensor.blocks.kind() == BlockShape::Kind::coordinate) {
    step_coordinates<T>(tensor, piece);
    return;
  }
  const BlockStep<T>& step = block_steps<T>()[heads_[tensor.index].numbers];
  const BoundStreams<T> streams = tensor.streams<T>();
  const std::uint64_t length = tensor.blocks.length(0);
  if (tensor.large && streams.dense) {
    for (std::uint64_t i = piece.begin; i < piece.end;) {
      const std::uint64_t k = i / length;
      const std::uint64_t end = std::min(piece.end, (k + 1) * length);
      apply_move(step, large_moves<T>()[tensor.first_move + k], streams.base.block_from(i),
                 end - i);
      i = end;
    }
  } else if (tensor.large) {
    // The gradient of this step is strided: whoever holds a block's first element takes it whole.
    const std::uint64_t first = (piece.begin + length - 1) / length;
    const std::uint64_t last = (piece.end + length - 1) / length;
    step_gathered_blocks(step, tensor.blocks, streams, first, last);
  } else if (tensor.blocks.kind() == BlockShape::Kind::contiguous && streams.dense) {
    step_dense_blocks(step, tensor.blocks, streams, piece.begin, piece.end);
  } else {
    step_gathered_blocks(step, tensor.blocks, streams, piece.begin, piece.end);
  }
}

template <class T>
void Plan::Impl::step_coordinates(const PlannedTensor& tensor, const Piece& piece) {
  const BlockStep<T>& step = block_steps<T>()[heads_[tensor.index].numbers];
  const BoundStreams<T> streams = tensor.streams<T>();
  const auto kernel = step.kernels->coordinate[step.recipe.index()];
  if (streams.dense) {
    kernel(step.coefficients, streams.base.from(piece.begin), piece.end - piece.begin);
    return;
  }
  constexpr std::uint64_t kTile = 512;
  T x[kTile];
  T g[kTile];
  T m[kTile];
  T u[kTile];
  for (std::uint64_t i = piece.begin; i < piece.end; i += kTile) {
    const std::uint64_t n = std::min(kTile, piece.end - i);
    const auto& base = streams.base;
    kernels::Streams<T> tile = base.from(i);
    gather(base.x, *streams.x, i, n, x);
    gather(base.g, *streams.g, i, n, g);
    tile.x = x;
    tile.g = g;
    if (base.m != nullptr) {
      gather(base.m, *streams.m, i, n, m);
      tile.m = m;
    }
    if (base.u != nullptr) {
      gather(base.u, *streams.u, i, n, u);
      tile.u = u;
    }
    kernel(step.coefficients, tile, n);
    scatter(x, *streams.x, i, n, base.x);
    if (base.m != nullptr) scatter(m, *streams.m, i, n, base.m);
    if (base.u != nullptr) scatter(u, *streams.u, i, n, base.u);
  }
}

}  // namespace bcos
