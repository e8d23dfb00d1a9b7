#include "lab/bench/runners.hpp"

#include <algorithm>

#include "engine/executor/run_tasks.hpp"
#include "engine/update/work.hpp"

namespace bcos::lab::bench {
namespace {

/// Arrays below this share the arena of their kind: a program makes its parameters one after the
/// other, then its gradients, then its states.
constexpr std::uint64_t kSmallBytes = 64 * 1024;

void fill_in(void* data, DType dtype, std::uint64_t n, std::uint64_t seed) {
  dtype == DType::f32 ? fill(static_cast<float*>(data), n, seed)
                      : fill(static_cast<double*>(data), n, seed);
}

/// Reads and writes what a step does, with next to no arithmetic. m and v may be null.
template <class T>
void stream(T* __restrict x, const T* __restrict g, T* __restrict m, T* __restrict v,
            std::uint64_t n) {
  constexpr T kHalf = T(0.5);
  if (m != nullptr && v != nullptr) {
    for (std::uint64_t i = 0; i < n; ++i) {
      m[i] = (m[i] + g[i]) * kHalf;
      v[i] = (v[i] + m[i]) * kHalf;
      x[i] -= v[i];
    }
  } else if (T* __restrict state = m != nullptr ? m : v) {
    for (std::uint64_t i = 0; i < n; ++i) {
      state[i] = (state[i] + g[i]) * kHalf;
      x[i] -= state[i];
    }
  } else {
    for (std::uint64_t i = 0; i < n; ++i) x[i] -= g[i];
  }
}

}  // namespace

StepRunner::StepRunner(const Method& method, DType dtype,
                       const std::vector<std::vector<std::int64_t>>& shapes, const Options& options)
    : dtype_(dtype), steps_(shapes.size(), 0), options_(options.step) {
  const StateKinds kinds = state_kinds(method);
  tensors_.resize(shapes.size());
  std::uint64_t small = 0;
  for (const auto& shape : shapes) {
    const std::uint64_t bytes = element_count(shape) * bytes_of(dtype);
    if (bytes < kSmallBytes) small += bytes + 64;
  }
  arenas_.reserve(5);
  for (std::uint64_t k = 0; k < 5; ++k) arenas_.emplace_back(small, options.seed + k);
  std::vector<Parameter> parameters;
  std::uint64_t seed = options.seed * 1'000'003;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Tensor& tensor = tensors_[i];
    tensor.shape = shapes[i];
    tensor.blocks = {static_cast<std::int64_t>(block_count(method.blocks, shapes[i]))};
    const std::uint64_t n = element_count(shapes[i]);
    elements_ += n;
    Parameter parameter;
    parameter.x = take(tensor, arenas_[0], n, seed++, true);
    parameter.x.shape = tensor.shape;
    const TensorView gradient = take(tensor, arenas_[1], n, seed++, true);
    gradients_.push_back({.data = gradient.data});
    const auto state = [&](bool kept, Arena& arena, std::uint64_t count, Dims shape) {
      TensorView view;
      if (kept) view = take(tensor, arena, count, seed++, false);
      view.dtype = dtype;
      view.shape = shape;
      return view;
    };
    parameter.m = state(kinds.m, arenas_[2], n, tensor.shape);
    parameter.v =
        state(kinds.v, arenas_[3], static_cast<std::uint64_t>(tensor.blocks[0]), tensor.blocks);
    parameter.u = state(kinds.u, arenas_[4], n, tensor.shape);
    parameters.push_back(parameter);
  }
  plan_.emplace(std::span(&method, 1), parameters,
                PlanOptions{.executor = {.threads = options.threads}});
  step();
}

TensorView StepRunner::take(Tensor& tensor, Arena& arena, std::uint64_t elements,
                            std::uint64_t seed, bool filled) {
  const std::uint64_t bytes = elements * bytes_of(dtype_);
  void* data = nullptr;
  if (bytes < kSmallBytes) {
    data = arena.take(bytes);
  } else {
    data = tensor.arrays.emplace_back(bytes, seed).as<void>();
  }
  if (filled) fill_in(data, dtype_, elements, seed);
  return {data, dtype_, {}, {}};
}

void StepRunner::step() {
  const double alpha = 1e-4;
  bytes_ = plan_->update(gradients_, {&alpha, 1}, steps_, options_).bytes;
}

double StepRunner::bytes_per_parameter() const {
  return static_cast<double>(bytes_) / static_cast<double>(elements_);
}

LimitRunner::LimitRunner(const Method& method, DType dtype, std::uint64_t elements, int threads)
    : dtype_(dtype), elements_(elements), threads_(threads), kinds_(state_kinds(method)) {
  arrays_.reserve(4);
  for (std::uint64_t seed = 11; seed < 15; ++seed) {
    const bool wanted = seed < 13 || (seed == 13 && kinds_.m) ||
                        (seed == 14 && kinds_.v && method.blocks.layout == Layout::coordinate);
    arrays_.emplace_back(wanted ? elements * bytes_of(dtype) : 1, seed);
    if (wanted) fill_in(arrays_.back().as<void>(), dtype, elements, seed);
  }
  kinds_.v = kinds_.v && method.blocks.layout == Layout::coordinate;
  step();
}

void LimitRunner::step() { dtype_ == DType::f32 ? step_in<float>() : step_in<double>(); }

template <class T>
void LimitRunner::step_in() {
  struct Job {
    T* x;
    const T* g;
    T* m;
    T* v;
    std::uint64_t n;
    std::uint64_t range;
  } job{arrays_[0].as<T>(),
        arrays_[1].as<T>(),
        kinds_.m ? arrays_[2].as<T>() : nullptr,
        kinds_.v ? arrays_[3].as<T>() : nullptr,
        elements_,
        0};
  const auto task = [](void* argument, std::size_t index) {
    const Job& job = *static_cast<const Job*>(argument);
    const std::uint64_t begin = index * job.range;
    const auto at = [&](auto* array) { return array == nullptr ? nullptr : array + begin; };
    stream(at(job.x), at(job.g), at(job.m), at(job.v), std::min(job.range, job.n - begin));
  };
  const Executor executor{.threads = threads_};
  const std::uint64_t ranges = ranges_of(elements_, threads_of(executor));
  job.range = (elements_ + ranges - 1) / ranges;
  run_tasks(executor, (elements_ + job.range - 1) / job.range, task, &job);
}

}  // namespace bcos::lab::bench
