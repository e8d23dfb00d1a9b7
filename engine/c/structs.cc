#include "engine/c/structs.hpp"

#include <limits>

#include "bcos/methods.hpp"
#include "bcos/text.hpp"

namespace bcos::c {

namespace {
constexpr int kMostDims = 64;
}

TensorView tensor_view(const bcos_tensor& given, std::string_view function) {
  if (given.dtype != BCOS_F32 && given.dtype != BCOS_F64) {
    throw fail(function, "expected dtype BCOS_F32 or BCOS_F64 but received {}", given.dtype);
  }
  if (given.rank < 0 || given.rank > kMostDims) {
    throw fail(function, "expected rank in 0..{} but received {}", kMostDims, given.rank);
  }
  if (given.rank > 0) required(given.shape, function, "a shape");
  TensorView view;
  view.data = given.data;
  view.dtype = given.dtype == BCOS_F32 ? DType::f32 : DType::f64;
  const auto rank = static_cast<std::size_t>(given.rank);
  view.shape = {given.shape, rank};
  if (given.strides != nullptr) view.strides = {given.strides, rank};
  return view;
}

Gradient gradient(const bcos_gradient& given, std::size_t rank) {
  Gradient result;
  result.data = given.data;
  if (given.strides != nullptr) result.strides = {given.strides, rank};
  result.oracle = given.oracle;
  return result;
}

OptimizerOptions options(const bcos_options* given, std::string_view function) {
  OptimizerOptions result;
  if (given == nullptr) return result;
  const bcos_options defaults = BCOS_OPTIONS_INIT;
  const bcos_options o = taken(given, defaults, function, "bcos_options");
  if (o.guard < BCOS_GUARD_PROPAGATE || o.guard > BCOS_GUARD_RAISE) {
    throw fail(function, "expected guard in 0..2 but received {}", o.guard);
  }
  if (!(o.max_norm >= 0)) {
    throw fail(function, "expected max_norm >= 0 but received {}", o.max_norm);
  }
  if (o.threads < 0) throw fail(function, "expected threads >= 0 but received {}", o.threads);
  result.guard = static_cast<Guard>(o.guard);
  if (o.max_norm > 0) result.max_norm = o.max_norm;
  result.executor = {o.run, o.run_context, o.threads};
  if (o.target != nullptr) result.target = target_by_name(o.target);
  return result;
}

void give_report(const StepReport& report, bcos_report* out, std::string_view function) {
  if (out == nullptr) return;
  bcos_report result = BCOS_REPORT_INIT;
  result.clipped = report.clipped ? 1 : 0;
  result.skipped = report.skipped ? 1 : 0;
  result.decay_above_one = report.decay_above_one ? 1 : 0;
  result.elements = report.elements;
  result.bytes = report.bytes;
  result.missing = report.missing;
  result.norm = report.norm.value_or(std::numeric_limits<double>::quiet_NaN());
  give(result, out, function, "bcos_report");
}

Method method(const char* text, std::string_view function) {
  required(text, function, "a method");
  const std::string_view given(text);
  const std::size_t first = given.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && given[first] == '{') return method_from_json(given);
  return method_by_name(given);
}

}  // namespace bcos::c
