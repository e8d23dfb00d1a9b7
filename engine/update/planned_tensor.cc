#include "engine/update/planned_tensor.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "engine/error.hpp"
#include "engine/kernels/tuning.hpp"

namespace bcos {
namespace {

constexpr std::string_view kWhere = "plan";

void check_pointer(const void* data, DType dtype, std::uint64_t n, std::string_view what,
                   const std::string& label) {
  if (n == 0) return;
  if (data == nullptr) {
    throw fail(kWhere, "expected memory for {} of {} but received null", what, label);
  }
  if (reinterpret_cast<std::uintptr_t>(data) % bytes_of(dtype) != 0) {
    throw fail(kWhere, "expected {} of {} aligned to {} bytes but received {}", what, label,
               bytes_of(dtype), data);
  }
}

TensorLayout checked_state(const TensorView& state, bool kept, const Parameter& parameter,
                           std::string_view what, const std::string& label) {
  if (!kept) return {};
  if (state.dtype != parameter.x.dtype) {
    throw fail(ErrorCode::mismatch, kWhere, "expected {} of {} as {} but received {}", what, label,
               name(parameter.x.dtype), name(state.dtype));
  }
  if (!std::ranges::equal(state.shape, parameter.x.shape)) {
    throw fail(ErrorCode::mismatch, kWhere,
               "expected {} of {} in the shape of x but received another", what, label);
  }
  TensorLayout layout(state.shape, state.strides);
  if (layout.overlaps_itself()) {
    throw fail(kWhere, "expected {} of {} without overlapping strides", what, label);
  }
  check_pointer(state.data, state.dtype, layout.size(), what, label);
  return layout;
}

/// Where the first-level cache predicts its way from the low 28 bits of an address, two streams
/// that agree in them evict each other at every access.
bool same_cache_sets(const void* a, const void* b) {
  constexpr std::uintptr_t kMask = (std::uintptr_t{1} << 28) - 1;
  constexpr std::uintptr_t kNear = 256;
  if (a == nullptr || b == nullptr || !kernels::tuning().predicts_ways) return false;
  const std::uintptr_t distance =
      (reinterpret_cast<std::uintptr_t>(a) - reinterpret_cast<std::uintptr_t>(b)) & kMask;
  return distance < kNear || distance > kMask - kNear;
}

struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
  const std::string* label;
};

template <class T>
bool all_zero(const T* data, const TensorLayout& layout, std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) {
    if (data[layout.offset(i)] != 0) return false;
  }
  return true;
}

void fill_zero(void* data, const TensorLayout& layout, std::uint64_t n, DType dtype) {
  if (data == nullptr) return;
  auto* const bytes = static_cast<std::byte*>(data);
  const std::size_t size = bytes_of(dtype);
  if (layout.dense()) {
    std::memset(bytes, 0, n * size);
    return;
  }
  for (std::uint64_t i = 0; i < n; ++i) {
    std::memset(bytes + layout.offset(i) * static_cast<std::int64_t>(size), 0, size);
  }
}

}  // namespace

PlannedTensor::PlannedTensor(const Parameter& parameter, const Method& method, std::size_t at)
    : index(at),
      label(parameter.name.empty() ? fmt::format("parameter {}", at)
                                   : fmt::format("'{}'", parameter.name)),
      group(parameter.group),
      dtype(parameter.x.dtype),
      x_layout(parameter.x.shape, parameter.x.strides),
      blocks(method.blocks, parameter.x.shape),
      shape_(parameter.x.shape.begin(), parameter.x.shape.end()) {
  const StateKinds kinds = state_kinds(method);
  n = x_layout.size();
  check_pointer(parameter.x.data, dtype, n, "x", label);
  if (x_layout.overlaps_itself()) {
    throw fail(kWhere, "expected x of {} without overlapping strides", label);
  }
  m_layout = checked_state(parameter.m, kinds.m, parameter, "m", label);
  u_layout = checked_state(parameter.u, kinds.u, parameter, "u", label);
  if (kinds.v) {
    if (parameter.v.dtype != dtype) {
      throw fail(ErrorCode::mismatch, kWhere, "expected v of {} as {} but received {}", label,
                 name(dtype), name(parameter.v.dtype));
    }
    const TensorLayout v_layout(parameter.v.shape, parameter.v.strides);
    if (v_layout.size() != blocks.count() || !v_layout.dense()) {
      throw fail(ErrorCode::mismatch, kWhere,
                 "expected v of {} with {} dense elements, one a block, but received {}", label,
                 blocks.count(), v_layout.size());
    }
    check_pointer(parameter.v.data, dtype, v_layout.size(), "v", label);
  }
  x = parameter.x.data;
  m = kinds.m ? parameter.m.data : nullptr;
  v = kinds.v ? parameter.v.data : nullptr;
  u = kinds.u ? parameter.u.data : nullptr;
  states_dense =
      x_layout.dense() && (!kinds.m || m_layout.dense()) && (!kinds.u || u_layout.dense());
  const bool coordinate = blocks.kind() == BlockShape::Kind::coordinate;
  collides =
      same_cache_sets(x, m) || (coordinate && (same_cache_sets(x, v) || same_cache_sets(m, v)));
  const std::uint64_t an_element = 3 + (kinds.m ? 2 : 0) + (kinds.u ? 2 : 0);
  bytes_a_step = bytes_of(dtype) * (n * an_element + (kinds.v ? 2 * blocks.count() : 0));
}

TensorHead PlannedTensor::head() const {
  TensorHead head;
  head.x = x;
  head.m = m;
  head.v = v;
  head.u = u;
  head.n = n;
  head.group = static_cast<std::uint32_t>(group);
  head.dtype = dtype;
  head.plain = blocks.kind() == BlockShape::Kind::coordinate && states_dense && !collides;
  return head;
}

void check_gradient(const TensorHead& head, const void* g, bool dense, const std::string& label) {
  const auto from = reinterpret_cast<std::uintptr_t>(g);
  if (from % bytes_of(head.dtype) != 0) {
    throw fail("update", "expected the gradient of {} aligned to {} bytes but received {}", label,
               bytes_of(head.dtype), g);
  }
  const std::uintptr_t bytes = head.n * bytes_of(head.dtype);
  const auto overlaps = [&](const void* written) {
    const auto to = reinterpret_cast<std::uintptr_t>(written);
    return written != nullptr && from < to + bytes && to < from + bytes;
  };
  // Strided ones may lie between each other; on the same first element they do not.
  const auto collides_with = [&](const void* written) {
    return dense ? overlaps(written) : head.n > 0 && written == g;
  };
  if (collides_with(head.x) || collides_with(head.m)) {
    throw fail("update",
               "expected the gradient of {} apart from x and m but received memory that "
               "overlaps one of them",
               label);
  }
}

void PlannedTensor::bind(const Gradient& given) {
  gradient = &given;
  if (g_layout_.size() != n || !std::ranges::equal(given.strides, g_strides_)) {
    g_layout_ = TensorLayout(shape_, given.strides);
    g_strides_.assign(given.strides.begin(), given.strides.end());
  }
  check_gradient(head(), given.data, x_layout.dense() && g_layout_.dense(), label);
}

bool PlannedTensor::gradient_is_zero() const {
  return dtype == DType::f32 ? all_zero(static_cast<const float*>(gradient->data), g_layout_, n)
                             : all_zero(static_cast<const double*>(gradient->data), g_layout_, n);
}

void PlannedTensor::zero_states() const {
  fill_zero(m, m_layout, n, dtype);
  fill_zero(u, u_layout, n, dtype);
  fill_zero(v, {}, blocks.count(), dtype);
}

void check_no_overlap(std::span<const PlannedTensor> tensors) {
  std::vector<Range> ranges;
  for (const PlannedTensor& tensor : tensors) {
    const std::uint64_t size = bytes_of(tensor.dtype);
    const auto add = [&](const void* data, const TensorLayout& layout, std::uint64_t n) {
      // Interleaved views of one array share an address range but no element; they are not checked.
      if (data == nullptr || n == 0 || !layout.dense()) return;
      const auto begin = reinterpret_cast<std::uintptr_t>(data);
      ranges.push_back({begin, begin + n * size, &tensor.label});
    };
    add(tensor.x, tensor.x_layout, tensor.n);
    add(tensor.m, tensor.m_layout, tensor.n);
    add(tensor.u, tensor.u_layout, tensor.n);
    add(tensor.v, {}, tensor.blocks.count());
  }
  std::ranges::sort(ranges, {}, &Range::begin);
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].begin < ranges[i - 1].end) {
      throw fail(kWhere,
                 "expected memory that is written once but received an overlap between {} and {}: "
                 "is one of them listed twice?",
                 *ranges[i - 1].label, *ranges[i].label);
    }
  }
}

}  // namespace bcos
