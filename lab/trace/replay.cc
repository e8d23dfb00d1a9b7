#include <cstdint>

#include "bcos/blocks.hpp"
#include "bcos/update.hpp"
#include "engine/error.hpp"
#include "engine/update/block_shape.hpp"
#include "lab/trace/trace.hpp"

namespace bcos::lab::trace {
namespace {

template <class T>
constexpr DType dtype_of() {
  return sizeof(T) == 4 ? DType::f32 : DType::f64;
}

template <class T>
std::vector<T> narrowed(const Numbers& values) {
  return std::vector<T>(values.begin(), values.end());
}

template <class T>
Numbers widened(const std::vector<T>& values) {
  return Numbers(values.begin(), values.end());
}

/// E|d|^2 of every block: the sum over its coordinates.
template <class T>
std::vector<T> block_sums(const BlockShape& blocks, const Numbers& values) {
  std::vector<T> sums(blocks.count());
  for (std::uint64_t k = 0; k < blocks.count(); ++k) {
    double sum = 0;
    for (std::uint64_t i = 0; i < blocks.length(k); ++i) sum += values[blocks.index(k, i)];
    sums[k] = static_cast<T>(sum);
  }
  return sums;
}

template <class T>
std::vector<TraceStep> replay_in(const TraceCase& given, const ReplayOptions& options) {
  const std::int64_t n[] = {static_cast<std::int64_t>(given.x0.size())};
  const BlockShape blocks(given.method.blocks, n);
  const std::int64_t count[] = {static_cast<std::int64_t>(blocks.count())};
  const StateKinds kinds = state_kinds(given.method);

  std::vector<T> x = narrowed<T>(given.x0);
  std::vector<T> m(kinds.m ? x.size() : 0);
  std::vector<T> u(kinds.u ? x.size() : 0);
  std::vector<T> v(kinds.v ? blocks.count() : 0);
  const auto view = [](std::vector<T>& values, Dims shape) {
    return TensorView{values.data(), dtype_of<T>(), shape, {}};
  };
  Parameter parameter;
  parameter.x = view(x, n);
  if (kinds.m) parameter.m = view(m, n);
  if (kinds.u) parameter.u = view(u, n);
  if (kinds.v) parameter.v = view(v, count);
  Plan plan({&given.method, 1}, {&parameter, 1}, {options.executor, options.target});

  StepOptions step_options;
  step_options.max_norm = given.max_norm;
  std::uint64_t steps[] = {0};
  std::vector<TraceStep> trace;
  for (std::size_t t = 0; t < given.alpha.size(); ++t) {
    TraceStep step;
    step.alpha = given.alpha[t];
    step.skipped = !given.grads[t];
    std::vector<T> g, oracle;
    std::vector<T> seen_g(x.size()), seen_d(x.size()), seen_v(blocks.count()),
        seen_update(x.size());
    Gradient gradient;
    if (given.grads[t]) {
      g = narrowed<T>(*given.grads[t]);
      gradient.data = g.data();
      gradient.tap = {seen_g.data(), seen_d.data(), seen_v.data(), seen_update.data()};
    }
    if (!given.oracle_d2.empty()) {
      oracle = block_sums<T>(blocks, given.oracle_d2[t]);
      gradient.oracle = oracle.data();
    }
    plan.update({&gradient, 1}, {&given.alpha[t], 1}, steps, step_options);
    if (!step.skipped) {
      step.g = widened(seen_g);
      step.d = widened(seen_d);
      step.v = widened(seen_v);
      step.update = widened(seen_update);
    }
    step.x = widened(x);
    trace.push_back(std::move(step));
  }
  return trace;
}

}  // namespace

std::vector<TraceStep> replay(const TraceCase& trace_case, const ReplayOptions& options) {
  return options.dtype == DType::f32 ? replay_in<float>(trace_case, options)
                                     : replay_in<double>(trace_case, options);
}

Json to_json(const std::vector<TraceStep>& steps) {
  Json trace = Json::array();
  for (std::size_t t = 0; t < steps.size(); ++t) {
    const TraceStep& step = steps[t];
    Json entry = {{"t", t}, {"alpha", step.alpha}};
    if (step.skipped) {
      entry["skipped"] = true;
    } else {
      entry["g"] = step.g;
      entry["d"] = step.d;
      entry["v"] = step.v;
      entry["update"] = step.update;
    }
    entry["x"] = step.x;
    trace.push_back(std::move(entry));
  }
  return trace;
}

std::vector<TraceStep> steps_from_json(const Json& trace) {
  std::vector<TraceStep> steps;
  try {
    for (const Json& entry : trace) {
      TraceStep step;
      step.alpha = entry.at("alpha");
      step.skipped = entry.value("skipped", false);
      if (!step.skipped) {
        step.g = entry.at("g").get<Numbers>();
        step.d = entry.at("d").get<Numbers>();
        step.v = entry.at("v").get<Numbers>();
        step.update = entry.at("update").get<Numbers>();
      }
      step.x = entry.at("x").get<Numbers>();
      steps.push_back(std::move(step));
    }
  } catch (const Json::exception& error) {
    throw fail(ErrorCode::corrupt, "trace", "expected a trace of steps but received: {}",
               error.what());
  }
  return steps;
}

}  // namespace bcos::lab::trace
