#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "bcos/method.hpp"
#include "engine/update/block_shape.hpp"

namespace bcos::testing {

/// One parameter, stepped naively in float64: the formulas as the paper prints them, two buffers of
/// momentum, one loop after another. Slow, readable, and trusted.
class Oracle {
 public:
  using Vector = std::vector<double>;

  Oracle(const Method& method, Vector x, const std::vector<std::int64_t>& shape)
      : method_(method), blocks_(method_.blocks, shape), x_(std::move(x)) {}
  Oracle(const Oracle&) = delete;

  const Vector& x() const { return x_; }
  const Vector& m() const { return m_; }
  const Vector& v() const { return v_; }

  void step(const Vector& gradient, double alpha, const Vector& oracle_d2 = {}) {
    const std::size_t n = x_.size();
    const bool coupled = method_.decay == Decay::coupled;
    Vector g(n);
    for (std::size_t i = 0; i < n; ++i) g[i] = gradient[i] + (coupled ? method_.lambda * x_[i] : 0);
    if (steps_ == 0) begin(coupled && method_.coupled_start == CoupledStart::raw ? gradient : g);

    const double beta = effective(method_.beta);
    const double beta_v = effective(method_.beta_v);
    const Vector old = m_;
    Vector d = g;
    if (method_.direction == Direction::momentum) {
      for (std::size_t i = 0; i < n; ++i) m_[i] = beta * old[i] + (1 - beta) * g[i];
      d = m_;
    }
    for (std::size_t i = 0; i < n; ++i) u_[i] = beta * u_[i] + (1 - beta) * d[i];

    Vector next = x_;
    for (std::uint64_t k = 0; k < blocks_.count(); ++k) {
      double dd = 0, gg = 0, mm = 0, md = 0, uu = 0;
      for (std::uint64_t j = 0; j < blocks_.length(k); ++j) {
        const std::uint64_t i = blocks_.index(k, j);
        dd += d[i] * d[i];
        gg += g[i] * g[i];
        mm += old[i] * old[i];
        md += old[i] * m_[i];
        uu += u_[i] * u_[i];
      }
      double v = 0;
      switch (method_.estimator) {
        case Estimator::instant:
          v = dd;
          break;
        case Estimator::constant:
          v = method_.c;
          break;
        case Estimator::ema_d:
          v = beta_v * v_[k] + (1 - beta_v) * dd;
          break;
        case Estimator::ema_g:
          v = beta_v * v_[k] + (1 - beta_v) * gg;
          break;
        case Estimator::cond_full:
          v = beta * beta * mm + 2 * beta * (1 - beta) * md + (1 - beta) * (1 - beta) * gg;
          break;
        case Estimator::cond_simple:
          v = (1 - (1 - beta) * (1 - beta)) * mm + (1 - beta) * (1 - beta) * gg;
          break;
        case Estimator::cond_free:
          v = beta_v * mm + (1 - beta_v) * gg;
          break;
        case Estimator::oracle:
          v = oracle_d2[k];
          break;
      }
      v_[k] = v;
      double gamma = alpha;
      if (method_.block_gain == BlockGain::sqrt) {
        gamma *= std::sqrt(static_cast<double>(blocks_.length(k)));
      }
      double denominator = v + method_.eps_root;
      if (method_.rule == StepRule::sqrt) denominator = std::sqrt(denominator) + method_.eps;
      if (method_.rule == StepRule::two_est) gamma *= std::sqrt(uu);
      const double keep = method_.decay == Decay::decoupled ? 1 - alpha * method_.lambda : 1;
      for (std::uint64_t j = 0; j < blocks_.length(k); ++j) {
        const std::uint64_t i = blocks_.index(k, j);
        next[i] = keep * x_[i] - (d[i] == 0 ? 0 : gamma * d[i] / denominator);
      }
    }
    x_ = next;
    ++steps_;
  }

 private:
  void begin(const Vector& first) {
    const bool from_first = method_.start == Start::first;
    m_ = from_first ? first : Vector(first.size(), 0);
    u_ = m_;
    v_.assign(blocks_.count(), 0);
    for (std::uint64_t k = 0; from_first && k < blocks_.count(); ++k) {
      for (std::uint64_t j = 0; j < blocks_.length(k); ++j) {
        v_[k] += first[blocks_.index(k, j)] * first[blocks_.index(k, j)];
      }
    }
  }

  double effective(double beta) const {
    if (method_.start != Start::zero_corrected) return beta;
    const double t = static_cast<double>(steps_);
    return beta * (1 - std::pow(beta, t)) / (1 - std::pow(beta, t + 1));
  }

  Method method_;
  BlockShape blocks_;
  Vector x_, m_, u_, v_;
  std::uint64_t steps_ = 0;
};

}  // namespace bcos::testing
