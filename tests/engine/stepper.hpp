#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "bcos/update.hpp"

namespace bcos::testing {

template <class T>
constexpr DType dtype_of() {
  return sizeof(T) == 4 ? DType::f32 : DType::f64;
}

inline std::uint64_t size_of(const std::vector<std::int64_t>& shape) {
  return std::accumulate(
      shape.begin(), shape.end(), std::uint64_t{1},
      [](std::uint64_t n, std::int64_t size) { return n * static_cast<std::uint64_t>(size); });
}

/// One parameter with its state, stepped through update().
template <class T>
class Stepper {
 public:
  Stepper(const Method& method, std::vector<T> x, std::vector<std::int64_t> shape = {},
          PlanOptions options = {})
      : method_(method), x_(std::move(x)), shape_(std::move(shape)), options_(options) {
    if (shape_.empty()) shape_ = {static_cast<std::int64_t>(x_.size())};
    const StateKinds kinds = state_kinds(method);
    blocks_ = {static_cast<std::int64_t>(block_count(method.blocks, shape_))};
    // State need not be initialised: fill it with something that would show.
    const T garbage = T(123);
    if (kinds.m) m_.assign(x_.size(), garbage);
    if (kinds.u) u_.assign(x_.size(), garbage);
    if (kinds.v) v_.assign(static_cast<std::size_t>(blocks_[0]), garbage);
  }

  StepReport step(const std::vector<T>& g, double alpha, const StepOptions& options = {}) {
    Gradient gradient;
    gradient.data = g.data();
    return step_with(gradient, alpha, options);
  }

  StepReport step_with(Gradient gradient, double alpha, const StepOptions& options = {}) {
    seen_g_.assign(x_.size(), 0);
    seen_d_.assign(x_.size(), 0);
    seen_update_.assign(x_.size(), 0);
    seen_v_.assign(static_cast<std::size_t>(blocks_[0]), 0);
    if (tapped_) {
      gradient.tap = {seen_g_.data(), seen_d_.data(), seen_v_.data(), seen_update_.data()};
    }
    const Parameter parameter = view();
    return update({&method_, 1}, {&parameter, 1}, {&gradient, 1}, {&alpha, 1}, {&steps_, 1},
                  options, options_);
  }

  Parameter view() {
    Parameter parameter;
    parameter.x = {x_.data(), dtype_of<T>(), shape_, {}};
    parameter.m = {m_.data(), dtype_of<T>(), shape_, {}};
    parameter.u = {u_.data(), dtype_of<T>(), shape_, {}};
    parameter.v = {v_.data(), dtype_of<T>(), blocks_, {}};
    return parameter;
  }

  void tap() { tapped_ = true; }

  std::vector<T>& x() { return x_; }
  std::vector<T>& m() { return m_; }
  std::vector<T>& v() { return v_; }
  std::vector<T>& u() { return u_; }
  const std::vector<T>& g() const { return seen_g_; }
  const std::vector<T>& d() const { return seen_d_; }
  const std::vector<T>& estimate() const { return seen_v_; }
  const std::vector<T>& moved() const { return seen_update_; }
  std::uint64_t& steps() { return steps_; }
  Method& method() { return method_; }

  /// x and all states, one behind the other.
  std::vector<T> everything() const {
    std::vector<T> all = x_;
    for (const auto* state : {&m_, &v_, &u_}) all.insert(all.end(), state->begin(), state->end());
    return all;
  }

 private:
  Method method_;
  std::vector<T> x_, m_, v_, u_;
  std::vector<std::int64_t> shape_, blocks_;
  PlanOptions options_;
  bool tapped_ = false;
  std::vector<T> seen_g_, seen_d_, seen_v_, seen_update_;
  std::uint64_t steps_ = 0;
};

}  // namespace bcos::testing
