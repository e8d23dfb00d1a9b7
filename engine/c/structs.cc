#include "engine/c/structs.hpp"

#include <limits>
#include <optional>

#include "bcos/methods.hpp"
#include "bcos/text.hpp"

namespace bcos::c {

namespace {
constexpr int kMostDims = 64;

template <class E>
constexpr bool is(int number, E value) {
  return number == static_cast<int>(value);
}
static_assert(is(BCOS_F32, DType::f32) && is(BCOS_F64, DType::f64));
static_assert(is(BCOS_DECAY_NONE, Decay::none) && is(BCOS_DECAY_COUPLED, Decay::coupled) &&
              is(BCOS_DECAY_DECOUPLED, Decay::decoupled));
static_assert(is(BCOS_START_FIRST, Start::first) && is(BCOS_START_ZERO, Start::zero) &&
              is(BCOS_START_ZERO_CORRECTED, Start::zero_corrected));
static_assert(is(BCOS_COUPLED_START_WITH_DECAY, CoupledStart::with_decay) &&
              is(BCOS_COUPLED_START_RAW, CoupledStart::raw));
static_assert(is(BCOS_BLOCK_GAIN_ONE, BlockGain::one) && is(BCOS_BLOCK_GAIN_SQRT, BlockGain::sqrt));

std::optional<double> number(double given) {
  return given == BCOS_NOT_GIVEN ? std::nullopt : std::optional(given);
}

/// The enumerator or bool of 0..most that an option is, if it is given.
template <class E>
std::optional<E> choice(std::int32_t given, E most, std::string_view function,
                        std::string_view what) {
  if (given < -1 || given > static_cast<std::int32_t>(most)) {
    throw fail(function, "expected {} in 0..{}, or -1 for what the method has, but received {}",
               what, static_cast<int>(most), given);
  }
  if (given == -1) return std::nullopt;
  return static_cast<E>(given);
}

}  // namespace

DType dtype(std::int32_t given, std::string_view function) {
  if (given != BCOS_F32 && given != BCOS_F64) {
    throw fail(function, "expected dtype BCOS_F32 or BCOS_F64 but received {}", given);
  }
  return static_cast<DType>(given);
}

TensorView tensor_view(const bcos_tensor& given, std::string_view function) {
  const DType type = dtype(given.dtype, function);
  if (given.rank < 0 || given.rank > kMostDims) {
    throw fail(function, "expected rank in 0..{} but received {}", kMostDims, given.rank);
  }
  if (given.rank > 0) required(given.shape, function, "a shape");
  TensorView view;
  view.data = given.data;
  view.dtype = type;
  const auto rank = static_cast<std::size_t>(given.rank);
  view.shape = {given.shape, rank};
  if (given.strides != nullptr) view.strides = {given.strides, rank};
  return view;
}

Shape shape_of(const TensorView& view) {
  return {view.shape.size(), view.dtype, element_count(view.shape)};
}

Gradient gradient(const bcos_gradient& given, const Shape& parameter) {
  Gradient result;
  result.data = given.data;
  if (given.strides != nullptr) result.strides = {given.strides, parameter.rank};
  result.oracle = given.oracle;
  return result;
}

std::optional<double> max_norm(double given, std::string_view function) {
  if (!(given >= 0)) throw fail(function, "expected max_norm >= 0 but received {}", given);
  return given > 0 ? std::optional(given) : std::nullopt;
}

OptimizerOptions options(const bcos_options* given, std::string_view function) {
  OptimizerOptions result;
  if (given == nullptr) return result;
  const bcos_options defaults = BCOS_OPTIONS_INIT;
  const bcos_options o = taken(given, defaults, function, "bcos_options");
  if (o.guard < BCOS_GUARD_PROPAGATE || o.guard > BCOS_GUARD_RAISE) {
    throw fail(function, "expected guard in 0..2 but received {}", o.guard);
  }
  if (o.threads < 0) throw fail(function, "expected threads >= 0 but received {}", o.threads);
  result.guard = static_cast<Guard>(o.guard);
  result.max_norm = max_norm(o.max_norm, function);
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

void check_report(const bcos_report* report, std::string_view function) {
  if (report != nullptr) shared_size<bcos_report>(report, function, "bcos_report");
}

void give_text(std::string_view text, char* buffer, std::size_t capacity, std::size_t* length,
               std::string_view function) {
  if (capacity > 0) {
    required(buffer, function, "a buffer");
    buffer[text.copy(buffer, capacity - 1)] = '\0';
  }
  if (length != nullptr) *length = text.size();
}

Method method(const char* text, std::string_view function) {
  required(text, function, "a method");
  const std::string_view given(text);
  const std::size_t first = given.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && given[first] == '{') return method_from_json(given);
  return method_by_name(given);
}

MethodOptions method_options(const bcos_method_options& given, std::string_view function) {
  return {
      .decay = choice(given.decay, Decay::decoupled, function, "decay"),
      .start = choice(given.start, Start::zero_corrected, function, "start"),
      .coupled_start = choice(given.coupled_start, CoupledStart::raw, function, "coupled_start"),
      .blocks =
          given.blocks == nullptr ? std::nullopt : std::optional(blocks_from_name(given.blocks)),
      .block_gain = choice(given.block_gain, BlockGain::sqrt, function, "block_gain"),
      .beta = number(given.beta),
      .beta_v = number(given.beta_v),
      .eps = number(given.eps),
      .eps_root = number(given.eps_root),
      .lambda = number(given.lambda),
      .c = number(given.c),
      .init_on_first_nonzero =
          choice(given.init_on_first_nonzero, true, function, "init_on_first_nonzero")};
}

}  // namespace bcos::c
