#include "lab/trace/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace bcos::lab::trace {
namespace {

double largest_of(const Numbers& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

/// Whether some gradient's square is out of float32's normal range.
bool extreme(const TraceCase& trace_case) {
  for (const auto& gradient : trace_case.grads) {
    if (!gradient) continue;
    const double largest = largest_of(*gradient);
    if (largest > 1e18 || (largest > 0 && largest < 1e-18)) return true;
  }
  return false;
}

class Comparison {
 public:
  explicit Comparison(DType dtype) : dtype_(dtype) {}

  void vectors(const Numbers& expected, const Numbers& received, const char* name, std::size_t t) {
    if (expected.size() != received.size()) {
      note(std::numeric_limits<double>::infinity(), fmt::format("t = {}, length of {}", t, name));
      return;
    }
    const double largest = largest_of(expected);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double allowed = tolerance(name, expected[i], largest);
      const double difference = std::abs(expected[i] - received[i]);
      if (difference <= allowed && allowed == 0) continue;
      const double miss = std::isnan(difference) || allowed == 0
                              ? std::numeric_limits<double>::infinity()
                              : difference / allowed;
      note(miss, fmt::format("t = {}, {}[{}]", t, name, i));
    }
  }

  void note(double miss, std::string where) {
    if (miss > miss_.worst) miss_ = {miss, std::move(where)};
  }
  const TraceMiss& miss() const { return miss_; }

 private:
  double tolerance(const std::string& name, double expected, double largest) const {
    if (dtype_ == DType::f64) return 1e-12 * std::max(std::abs(expected), 1e-3 * largest);
    if (name == "x") return 2e-6 * std::max(1.0, std::abs(expected));
    return 2e-5 * largest;
  }

  DType dtype_;
  TraceMiss miss_;
};

}  // namespace

TraceMiss compare(const TraceCase& trace_case, const std::vector<TraceStep>& expected,
                  const std::vector<TraceStep>& received, DType dtype) {
  Comparison comparison(dtype);
  if (expected.size() != received.size()) {
    return {std::numeric_limits<double>::infinity(), "number of steps"};
  }
  const bool with_v = dtype == DType::f64 || !extreme(trace_case);
  for (std::size_t t = 0; t < expected.size(); ++t) {
    if (expected[t].skipped != received[t].skipped) {
      return {std::numeric_limits<double>::infinity(), fmt::format("t = {}, skipped", t)};
    }
    comparison.vectors(expected[t].x, received[t].x, "x", t);
    comparison.vectors(expected[t].g, received[t].g, "g", t);
    comparison.vectors(expected[t].d, received[t].d, "d", t);
    comparison.vectors(expected[t].update, received[t].update, "update", t);
    if (with_v) comparison.vectors(expected[t].v, received[t].v, "v", t);
  }
  return comparison.miss();
}

bool fits(const TraceCase& trace_case, DType dtype) {
  return dtype == DType::f64 || !state_kinds(trace_case.method).v || !extreme(trace_case);
}

}  // namespace bcos::lab::trace
