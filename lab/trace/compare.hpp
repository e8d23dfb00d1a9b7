#pragma once

#include <string>
#include <vector>

#include "lab/trace/trace.hpp"

namespace bcos::lab::trace {

/// How far a replay is from the trace it should give, in units of what is allowed: <= 1 passes.
struct TraceMiss {
  double worst = 0;
  std::string where;  ///< of the worst number: "t = 2, d[1]"
};

/// Tolerances: float64 1e-12 relative (floor 1e-3 of the vector's largest); float32 2e-6 of
/// max(1, |x|) for x and 2e-5 of the vector's largest for the rest.
TraceMiss compare(const TraceCase& trace_case, const std::vector<TraceStep>& expected,
                  const std::vector<TraceStep>& received, DType dtype);

/// Whether a float32 run can hold the case: moving averages of numbers whose squares leave float32
/// cannot be stored.
bool fits(const TraceCase& trace_case, DType dtype);

}  // namespace bcos::lab::trace
