#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bcos/target.hpp"
#include "bcos/tensor.hpp"
#include "lab/trace/trace.hpp"

namespace bcos::lab::trace {

/// A case outside its tolerance.
struct CaseMiss {
  std::string name;   ///< of the case
  double worst = 0;   ///< in units of what is allowed
  std::string where;  ///< "t = 2, d[1]"
};

/// What one target and dtype made of a trace file.
struct Verdict {
  Target target = Target::scalar;
  DType dtype = DType::f64;
  std::size_t compared = 0;
  CaseMiss worst;                ///< of all cases, passed ones too
  std::vector<CaseMiss> misses;  ///< cases that did not pass
};

/// A trace file that is checked against: its cases and the steps they should give.
struct Expected {
  std::vector<TraceCase> cases;
  std::vector<std::vector<TraceStep>> traces;
};

/// Throws Error naming the case that is wrong or has no trace.
Expected expected_of(const Json& file);

Verdict judge(const Expected& expected, Target target, DType dtype);

/// The case's name, or its number if it has none.
std::string case_name(const TraceCase& trace_case, std::size_t index);

}  // namespace bcos::lab::trace
