#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bcos/executor.hpp"
#include "bcos/method.hpp"
#include "bcos/target.hpp"
#include "bcos/tensor.hpp"

/// Trace files (docs/formats.md): configurations with their gradients, and what each step gives.
namespace bcos::lab::trace {

using Json = nlohmann::ordered_json;
using Numbers = std::vector<double>;

/// A case of a trace file with every name in it resolved.
struct TraceCase {
  std::string name;
  Method method;
  std::optional<double> max_norm;
  Numbers x0;
  Numbers alpha;
  std::vector<std::optional<Numbers>> grads;  ///< nothing: the parameter is skipped
  std::vector<Numbers> oracle_d2;             ///< a coordinate's E|d|^2, for estimator oracle
};

/// What one step of a case gave; v has one number a block.
struct TraceStep {
  double alpha = 0;
  bool skipped = false;
  Numbers g, d, v, update, x;
};

/// The cases of a trace file. Throws Error naming the case and the key.
std::vector<TraceCase> read_cases(const Json& file);

struct ReplayOptions {
  DType dtype = DType::f64;
  std::optional<Target> target = {};
  Executor executor = {};
};

/// Runs a case through the engine.
std::vector<TraceStep> replay(const TraceCase& trace_case, const ReplayOptions& options);

/// Steps as a trace file has them, and back.
Json to_json(const std::vector<TraceStep>& steps);
std::vector<TraceStep> steps_from_json(const Json& trace);

}  // namespace bcos::lab::trace
