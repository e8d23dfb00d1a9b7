#include "lab/trace/verdict.hpp"

#include "engine/error.hpp"
#include "lab/trace/compare.hpp"

namespace bcos::lab::trace {

std::string case_name(const TraceCase& trace_case, std::size_t index) {
  return trace_case.name.empty() ? fmt::format("number {}", index) : trace_case.name;
}

Expected expected_of(const Json& file) {
  Expected expected{read_cases(file), {}};
  if (expected.cases.empty()) {
    throw fail(ErrorCode::corrupt, "check", "expected at least one case to compare");
  }
  for (std::size_t i = 0; i < expected.cases.size(); ++i) {
    const std::string name = case_name(expected.cases[i], i);
    const Json& entry = file["cases"][i];
    if (!entry.contains("trace") || !entry["trace"].is_array()) {
      throw fail(ErrorCode::corrupt, "check", "expected a trace to compare with in case '{}'",
                 name);
    }
    try {
      expected.traces.push_back(steps_from_json(entry["trace"]));
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{} (case '{}')", error.what(), name));
    }
  }
  return expected;
}

Verdict judge(const Expected& expected, Target target, DType dtype) {
  Verdict verdict;
  verdict.target = target;
  verdict.dtype = dtype;
  for (std::size_t i = 0; i < expected.cases.size(); ++i) {
    const TraceCase& trace_case = expected.cases[i];
    if (!fits(trace_case, dtype)) continue;
    const auto received = replay(trace_case, {.dtype = dtype, .target = target});
    const TraceMiss miss = compare(trace_case, expected.traces[i], received, dtype);
    const CaseMiss result{case_name(trace_case, i), miss.worst, miss.where};
    ++verdict.compared;
    if (miss.worst > verdict.worst.worst) verdict.worst = result;
    if (!(miss.worst <= 1)) verdict.misses.push_back(result);
  }
  return verdict;
}

}  // namespace bcos::lab::trace
