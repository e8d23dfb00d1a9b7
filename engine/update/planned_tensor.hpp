#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bcos/update.hpp"
#include "engine/update/block_shape.hpp"
#include "engine/update/block_walk.hpp"
#include "engine/update/tensor_layout.hpp"

namespace bcos {

/// What every step looks at, in one cache line: lists of thousands of small tensors are walked
/// several times a step.
struct alignas(64) TensorHead {
  void* x = nullptr;
  void* m = nullptr;
  void* v = nullptr;
  void* u = nullptr;
  const void* g = nullptr;
  std::uint64_t n = 0;
  std::uint32_t group = 0;
  std::uint32_t numbers = 0;  ///< which coefficients, in the step at hand
  DType dtype = DType::f32;
  bool plain = false;     ///< coordinates in dense memory, states apart from x
  bool in_step = false;   ///< has a gradient in the step at hand
  bool ordinary = false;  ///< plain, and nothing about its gradient is special

  template <class T>
  kernels::Streams<T> streams() const {
    kernels::Streams<T> s;
    s.x = static_cast<T*>(x);
    s.g = static_cast<const T*>(g);
    s.m = static_cast<T*>(m);
    s.v = static_cast<T*>(v);
    s.u = static_cast<T*>(u);
    return s;
  }
};

/// The rest of a parameter as a plan keeps it, and what it gets in the step at hand.
struct PlannedTensor {
  PlannedTensor(const Parameter& parameter, const Method& method, std::size_t index);

  // fixed by the plan
  std::size_t index;
  std::string label;  ///< what messages call it
  std::size_t group;
  DType dtype;
  std::uint64_t n;
  void* x;
  void* m;
  void* v;
  void* u;
  TensorLayout x_layout;
  TensorLayout m_layout;
  TensorLayout u_layout;
  BlockShape blocks;
  bool states_dense;
  bool collides;                   ///< a state lies on the cache sets of x
  bool large = false;              ///< blocks so long that several tasks share each
  std::uint64_t large_chunk = 0;   ///< first of its chunks in the large blocks' partial sums
  std::uint64_t first_move = 0;    ///< first of its blocks among the moves of large blocks
  std::uint64_t bytes_a_step = 0;  ///< read and written by an update

  // of the step at hand
  const Gradient* gradient = nullptr;

  TensorHead head() const;

  /// Takes the gradient after checking its place.
  void bind(const Gradient& gradient);

  template <class T>
  BoundStreams<T> streams() const {
    BoundStreams<T> s;
    s.base.x = static_cast<T*>(x);
    s.base.g = static_cast<const T*>(gradient->data);
    s.base.m = static_cast<T*>(m);
    s.base.v = static_cast<T*>(v);
    s.base.u = static_cast<T*>(u);
    s.base.oracle = static_cast<const T*>(gradient->oracle);
    const Tap& tap = gradient->tap;
    s.base.tap_g = static_cast<T*>(tap.g);
    s.base.tap_d = static_cast<T*>(tap.d);
    s.base.tap_v = static_cast<T*>(tap.v);
    s.base.tap_update = static_cast<T*>(tap.update);
    s.base.tapped =
        (tap.g != nullptr) || (tap.d != nullptr) || (tap.v != nullptr) || (tap.update != nullptr);
    s.base.tiled = collides;
    s.x = &x_layout;
    s.g = &g_layout_;
    s.m = &m_layout;
    s.u = &u_layout;
    s.dense = states_dense && g_layout_.dense();
    return s;
  }

  const TensorLayout& g_layout() const { return g_layout_; }

  /// Whether every element of the gradient is zero.
  bool gradient_is_zero() const;
  void zero_states() const;

 private:
  std::vector<std::int64_t> shape_;
  std::vector<std::int64_t> g_strides_;
  TensorLayout g_layout_;
};

/// Throws if a gradient is misaligned or lies on its parameter.
void check_gradient(const TensorHead& head, const void* g, bool dense, const std::string& label);

/// Throws if any of the memory that a step writes is named twice.
void check_no_overlap(std::span<const PlannedTensor> tensors);

}  // namespace bcos
