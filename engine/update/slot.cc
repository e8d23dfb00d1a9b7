#include "engine/update/slot.hpp"

#include <algorithm>
#include <iterator>

#include "engine/error.hpp"

namespace bcos {
namespace {

constexpr std::string_view kPlan = "plan";
constexpr std::string_view kUpdate = "update";

template <class T>
constexpr DType dtype_of() {
  return sizeof(T) == 4 ? DType::f32 : DType::f64;
}

template <class T>
void check_alignment(const void* data, std::string_view function, std::string_view what,
                     std::string_view label) {
  if (reinterpret_cast<std::uintptr_t>(data) % sizeof(T) != 0) {
    throw fail(function, "expected {} of {} aligned to {} bytes but received {}", what, label,
               sizeof(T), data);
  }
}

template <class T>
T* checked_data(const TensorView& view, std::uint64_t n, std::string_view what,
                std::string_view label) {
  if (n > 0 && view.data == nullptr) {
    throw fail(kPlan, "expected memory for {} of {} but received null", what, label);
  }
  check_alignment<T>(view.data, kPlan, what, label);
  return static_cast<T*>(view.data);
}

template <class T>
void check_dtype(const TensorView& view, std::string_view what, std::string_view label) {
  if (view.dtype != dtype_of<T>()) {
    throw fail(ErrorCode::mismatch, kPlan, "expected {} of {} as {} but received {}", what, label,
               name(dtype_of<T>()), name(view.dtype));
  }
}

void check_overlap(const Strides& strides, std::string_view what, std::string_view label) {
  if (overlaps_itself(strides)) {
    throw fail(kPlan, "expected {} of {} without overlapping strides", what, label);
  }
}

/// A state in the shape of x.
template <class T>
Strides checked_state(const TensorView& state, Dims shape, std::string_view what,
                      std::string_view label) {
  check_dtype<T>(state, what, label);
  if (!std::ranges::equal(state.shape, shape)) {
    throw fail(ErrorCode::mismatch, kPlan,
               "expected {} of {} in the shape of x but received another", what, label);
  }
  Strides strides(shape, state.strides, sizeof(T));
  check_overlap(strides, what, label);
  return strides;
}

/// One number per block, dense.
template <class T>
Strides checked_v(const TensorView& v, std::uint64_t blocks, std::string_view label) {
  check_dtype<T>(v, "v", label);
  Strides strides(v.shape, v.strides, sizeof(T));
  if (strides.size() != blocks || !strides.dense()) {
    throw fail(ErrorCode::mismatch, kPlan,
               "expected v of {} with {} dense elements, one per block, but received {}", label,
               blocks, strides.size());
  }
  return strides;
}

}  // namespace

template <class T>
Slot<T>::Slot(const Parameter& parameter, const Method& its_method, std::string_view its_label)
    : method(&its_method),
      label(its_label),
      blocks(its_method.blocks, parameter.x.shape),
      shape(parameter.x.shape),
      x_strides(parameter.x.shape, parameter.x.strides, sizeof(T)) {
  n = x_strides.size();
  x = checked_data<T>(parameter.x, n, "x", label);
  check_overlap(x_strides, "x", label);
  layouts_[kX] = {true, parameter.x.strides};
  const StateKinds kinds = state_kinds(its_method);
  if (kinds.m) {
    m_strides = checked_state<T>(parameter.m, shape, "m", label);
    m = checked_data<T>(parameter.m, n, "m", label);
    layouts_[kM] = {true, parameter.m.strides};
  }
  if (kinds.u) {
    u_strides = checked_state<T>(parameter.u, shape, "u", label);
    u = checked_data<T>(parameter.u, n, "u", label);
    layouts_[kU] = {true, parameter.u.strides};
  }
  if (kinds.v) {
    const bool like_x = blocks.kind() == BlockShape::Kind::coordinate &&
                        std::ranges::equal(parameter.v.shape, shape);
    v_strides = like_x ? checked_state<T>(parameter.v, shape, "v", label)
                       : checked_v<T>(parameter.v, blocks.count(), label);
    v = checked_data<T>(parameter.v, blocks.count(), "v", label);
    layouts_[kV] = {true, like_x ? parameter.v.strides : Dims()};
  }
  states_dense = x_strides.dense() && m_strides.dense() && v_strides.dense() && u_strides.dense();
  g_strides.reserve(shape.size());
  checked_strides_.reserve(shape.size());
  nest.reserve(shape.size());
}

template <class T>
std::uint64_t Slot<T>::bytes_per_step() const {
  const std::uint64_t per_element = 3 + (m != nullptr ? 2 : 0) + (u != nullptr ? 2 : 0);
  return sizeof(T) * (n * per_element + (v != nullptr ? 2 * blocks.count() : 0));
}

template <class T>
void Slot<T>::register_in(Extents& written) const {
  try {
    written.add({x, sizeof(T), x_strides}, label);
    if (m != nullptr) written.add({m, sizeof(T), m_strides}, label);
    if (u != nullptr) written.add({u, sizeof(T), u_strides}, label);
    if (v != nullptr) written.add({v, sizeof(T), v_strides}, label);
  } catch (...) {
    written.remove(label);
    throw;
  }
}

template <class T>
void Slot<T>::bind(const Gradient& given, const Extents& written) {
  const Tap& tap = given.tap;
  gradient = &given;
  g = static_cast<const T*>(given.data);
  const bool as_before = given.data == checked_data_ && written.version() == checked_version_ &&
                         std::ranges::equal(given.strides, checked_strides_);
  const bool was_watched = watched;
  watched = given.oracle != nullptr || tap.g != nullptr || tap.d != nullptr || tap.v != nullptr ||
            tap.update != nullptr || method->estimator == Estimator::oracle;
  if (!as_before) bind_place(given, written);
  if (watched) check_watchers(given, written);
  if (!as_before || watched || was_watched) find_nest(given);
}

template <class T>
void Slot<T>::find_nest(const Gradient& given) {
  if (blocks.kind() != BlockShape::Kind::coordinate) return;
  in_place = g_strides.dense() && states_dense;
  if (in_place || n == 0) return;
  std::array<Nest::Layout, kStreams> layouts = layouts_;
  layouts[kG] = {true, given.strides};
  layouts[kOracle].present = given.oracle != nullptr;
  layouts[kTapG].present = given.tap.g != nullptr;
  layouts[kTapD].present = given.tap.d != nullptr;
  layouts[kTapV].present = given.tap.v != nullptr;
  layouts[kTapUpdate].present = given.tap.update != nullptr;
  nest.assign(shape, layouts);
  in_place = nest.is_one_run();
}

template <class T>
void Slot<T>::bind_place(const Gradient& given, const Extents& written) {
  checked_data_ = nullptr;
  check_alignment<T>(given.data, kUpdate, "the gradient", label);
  g_strides.assign(shape, given.strides, sizeof(T));
  const std::string_view owner = written.find(Region{given.data, sizeof(T), g_strides});
  if (!owner.empty()) throw_written("the gradient", owner);
  checked_data_ = given.data;
  checked_strides_.assign(given.strides.begin(), given.strides.end());
  checked_version_ = written.version();
}

template <class T>
void Slot<T>::throw_written(std::string_view what, std::string_view owner) const {
  throw fail(kUpdate,
             "expected {} of {} apart from what a step writes but received memory that overlaps x "
             "or a state of {}",
             what, label, owner);
}

template <class T>
void Slot<T>::check_watchers(const Gradient& given, const Extents& written) const {
  check_oracle(given);
  struct Range {
    std::string_view what;
    std::uintptr_t begin;
    std::uintptr_t end;
  };
  const auto range = [](std::string_view what, const void* data, std::uint64_t count) {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    return Range{what, begin, data == nullptr ? begin : begin + count * sizeof(T)};
  };
  const Region read{given.data, sizeof(T), g_strides};
  const Range ranges[] = {{"the gradient", read.begin(), read.end()},
                          range("the oracle", given.oracle, blocks.count()),
                          range("the tap of g", given.tap.g, n),
                          range("the tap of d", given.tap.d, n),
                          range("the tap of v", given.tap.v, blocks.count()),
                          range("the tap of the update", given.tap.update, n)};
  for (auto one = std::begin(ranges) + 1; one != std::end(ranges); ++one) {
    const auto* data = reinterpret_cast<const void*>(one->begin);
    check_alignment<T>(data, kUpdate, one->what, label);
    const std::string_view owner = written.find(data, one->end - one->begin);
    if (!owner.empty()) throw_written(one->what, owner);
    const auto other = std::find_if(std::begin(ranges), one, [&](const Range& before) {
      return before.begin < one->end && one->begin < before.end;
    });
    if (other == one) continue;
    throw fail(kUpdate, "expected {} and {} of {} apart but received an overlap", other->what,
               one->what, label);
  }
}

template <class T>
void Slot<T>::check_oracle(const Gradient& given) const {
  if (method->estimator != Estimator::oracle) return;
  if (given.oracle == nullptr && n > 0) {
    throw fail(kUpdate, "expected oracle values for {} but received null", label);
  }
  const bool may_vanish = method->eps > 0 || method->eps_root > 0;
  for (std::uint64_t k = 0; k < blocks.count(); ++k) {
    const auto value = static_cast<double>(static_cast<const T*>(given.oracle)[k]);
    if (!(value >= 0) || (value == 0 && !may_vanish)) {
      throw fail(kUpdate, "expected oracle {} 0 in block {} of {} but received {}",
                 may_vanish ? ">=" : ">", k, label, value);
    }
  }
}

template struct Slot<float>;
template struct Slot<double>;

}  // namespace bcos
