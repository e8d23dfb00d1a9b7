#include "engine/update/slot.hpp"

#include <algorithm>
#include <numeric>

#include "engine/error.hpp"

namespace bcos {

using namespace kernels;

namespace {

constexpr std::string_view kNames[kStreams] = {
    "the gradient", "the oracle",           "x", "m", "v", "u", "the tap of g", "the tap of d",
    "the tap of v", "the tap of the update"};

template <class T>
constexpr DType kDType = sizeof(T) == 4 ? DType::f32 : DType::f64;

/// In which order of its dimensions a tensor is walked block by block.
std::vector<std::size_t> order_of_walk(const TensorView& x, BlockShape::Kind kind) {
  if (kind == BlockShape::Kind::coordinate) return order_in_memory(x.strides);
  std::vector<std::size_t> order;
  if (kind == BlockShape::Kind::columns) {
    order.resize(x.shape.size());
    std::iota(order.begin() + 1, order.end(), std::size_t{0});
    order[0] = order.size() - 1;
  }
  return order;
}

}  // namespace

template <class T>
Slot<T>::Slot(const Parameter& parameter, const Method& its_method, std::string_view its_label)
    : method(&its_method),
      label(its_label),
      shape(parameter.x.shape),
      blocks(its_method.blocks, parameter.x.shape),
      order_(order_of_walk(parameter.x, blocks.kind())) {
  n = element_count(shape);
  tile.ahead = prefetch_distance();
  take(kX, parameter.x);
  const auto count = static_cast<std::int64_t>(blocks.count());
  for (const Stream s : {kOracle, kTapG, kTapD, kTapV, kTapUpdate}) {
    if (is_of_blocks(s)) {
      strides[s].assign({&count, 1}, {}, sizeof(T));
    } else {
      strides[s].assign(shape, {}, sizeof(T), order_);
    }
  }
  const StateKinds kinds = state_kinds(its_method);
  if (kinds.m) take(kM, parameter.m);
  if (kinds.u) take(kU, parameter.u);
  if (kinds.v) take(kV, parameter.v);
  states_dense = true;
  for (const Stream s : {kX, kM, kV, kU}) states_dense &= strides[s].dense();
  row = blocks.usual_length();
  if (is_coordinate() && n > 0 && !shape.empty()) {
    row = static_cast<std::uint64_t>(shape[order_.empty() ? shape.size() - 1 : order_.back()]);
  }
  strides[kG].reserve(shape.size());
  g_logical.reserve(shape.size());
  checked_strides.reserve(shape.size());
}

template <class T>
bool Slot<T>::is_of_blocks(int stream) const {
  return !is_coordinate() && (stream == kV || stream == kOracle || stream == kTapV);
}

/// x or a state. v has one number per block, or lies like coordinates.
template <class T>
void Slot<T>::take(Stream s, const TensorView& view) {
  if (view.dtype != kDType<T>) {
    throw fail(ErrorCode::mismatch, "plan", "expected {} of {} as {} but received {}", kNames[s],
               label, name(kDType<T>), name(view.dtype));
  }
  const bool like_x = std::ranges::equal(view.shape, shape);
  if (s == kV && !(is_coordinate() && like_x)) {
    const Strides given(view.shape, view.strides, sizeof(T));
    if (given.size() != blocks.count() || !given.dense()) {
      throw fail(ErrorCode::mismatch, "plan",
                 "expected v of {} with {} dense elements, one per block, but received {}", label,
                 blocks.count(), given.size());
    }
    strides[kV] = strides[kOracle];
  } else if (!like_x) {
    throw fail(ErrorCode::mismatch, "plan",
               "expected {} of {} in the shape of x but received another", kNames[s], label);
  } else {
    strides[s].assign(shape, view.strides, sizeof(T), order_);
    if (overlaps_itself(strides[s])) {
      throw fail("plan", "expected {} of {} without overlapping strides", kNames[s], label);
    }
  }
  if (view.data == nullptr && strides[s].size() > 0) {
    throw fail("plan", "expected memory for {} of {} but received null", kNames[s], label);
  }
  tile.data[s] = static_cast<T*>(view.data);
  check_alignment(s, "plan");
}

template <class T>
void Slot<T>::check_alignment(Stream s, std::string_view function) const {
  const void* const place = tile.data[s];
  if (reinterpret_cast<std::uintptr_t>(place) % sizeof(T) != 0) {
    throw fail(function, "expected {} of {} aligned to {} bytes but received {}", kNames[s], label,
               sizeof(T), place);
  }
}

template <class T>
Tile<T> Slot<T>::elements() const {
  Tile<T> elements = tile;
  if (is_coordinate()) return elements;
  elements.data[kV] = elements.data[kOracle] = elements.data[kTapV] = nullptr;
  return elements;
}

template <class T>
std::uint64_t Slot<T>::bytes_per_step() const {
  const std::uint64_t per_element =
      3 + (tile.data[kM] != nullptr ? 2 : 0) + (tile.data[kU] != nullptr ? 2 : 0);
  return sizeof(T) * (n * per_element + (tile.data[kV] != nullptr ? 2 * blocks.count() : 0));
}

template <class T>
void Slot<T>::register_in(Extents& written) const {
  try {
    for (const Stream s : {kX, kM, kV, kU}) {
      if (tile.data[s] != nullptr) written.add(region(s), label);
    }
  } catch (...) {
    written.remove(label);
    throw;
  }
}

template <class T>
void Slot<T>::bind(const Gradient& given, const Extents& written) {
  const Tap& tap = given.tap;
  const bool was_watched = watched;
  tile.tapped = tap.g != nullptr || tap.d != nullptr || tap.v != nullptr || tap.update != nullptr;
  watched = tile.tapped || given.oracle != nullptr || method->estimator == Estimator::oracle;
  const bool as_before = given.data == tile.data[kG] && written.version() == checked_version &&
                         std::ranges::equal(given.strides, checked_strides);
  if (as_before && !watched && !was_watched) return;
  if (!as_before) take_gradient(given, written);
  watch(given);
  if (watched) check_watchers(written);
  find_rows();
}

template <class T>
void Slot<T>::take_gradient(const Gradient& given, const Extents& written) {
  checked_version = 0;
  tile.data[kG] = static_cast<T*>(const_cast<void*>(given.data));
  check_alignment(kG, "update");
  strides[kG].assign(shape, given.strides, sizeof(T), order_);
  g_logical.assign(shape, given.strides, sizeof(T));
  check_apart(kG, written);
  checked_strides.assign(given.strides.begin(), given.strides.end());
  checked_version = written.version();
}

template <class T>
void Slot<T>::watch(const Gradient& given) {
  tile.data[kOracle] = static_cast<T*>(const_cast<void*>(given.oracle));
  tile.data[kTapG] = static_cast<T*>(given.tap.g);
  tile.data[kTapD] = static_cast<T*>(given.tap.d);
  tile.data[kTapV] = static_cast<T*>(given.tap.v);
  tile.data[kTapUpdate] = static_cast<T*>(given.tap.update);
}

template <class T>
void Slot<T>::find_rows() {
  in_place = true;
  std::uint64_t shortest = std::max<std::uint64_t>(n, 1);
  for (int s = 0; s < kStreams; ++s) {
    if (tile.data[s] == nullptr || is_of_blocks(s)) continue;
    in_place &= strides[s].dense();
    shortest = std::min(shortest, strides[s].row());
  }
  if (is_coordinate()) row = shortest;
}

template <class T>
void Slot<T>::check_apart(Stream s, const Extents& written) const {
  const std::string_view owner = written.find(region(s));
  if (owner.empty()) return;
  throw fail("update",
             "expected {} of {} apart from what a step writes but received memory that overlaps x "
             "or a state of {}",
             kNames[s], label, owner);
}

template <class T>
void Slot<T>::check_watchers(const Extents& written) const {
  check_oracle();
  constexpr Stream kApart[] = {kG, kOracle, kTapG, kTapD, kTapV, kTapUpdate};
  for (const Stream* one = kApart + 1; one != std::end(kApart); ++one) {
    if (tile.data[*one] == nullptr) continue;
    check_alignment(*one, "update");
    check_apart(*one, written);
    const Region region_of_one = region(*one);
    const Stream* other = std::find_if(kApart, one, [&](Stream before) {
      return tile.data[before] != nullptr && region(before).begin() < region_of_one.end() &&
             region_of_one.begin() < region(before).end();
    });
    if (other == one) continue;
    throw fail("update", "expected {} and {} of {} apart but received an overlap", kNames[*other],
               kNames[*one], label);
  }
}

template <class T>
void Slot<T>::check_oracle() const {
  if (method->estimator != Estimator::oracle) return;
  if (tile.data[kOracle] == nullptr && n > 0) {
    throw fail("update", "expected oracle values for {} but received null", label);
  }
  const bool may_vanish = method->eps > 0 || method->eps_root > 0;
  for (std::uint64_t k = 0; k < blocks.count(); ++k) {
    const auto value = static_cast<double>(tile.data[kOracle][k]);
    if (!(value >= 0) || (value == 0 && !may_vanish)) {
      throw fail("update", "expected oracle {} 0 in block {} of {} but received {}",
                 may_vanish ? ">=" : ">", k, label, value);
    }
  }
}

template struct Slot<float>;
template struct Slot<double>;

}  // namespace bcos
