#include "lab/theory/stationary.hpp"

#include <cmath>
#include <numbers>

#include "engine/error.hpp"
#include "lab/theory/parallel.hpp"

namespace bcos::lab::theory {
namespace {

/// The variance of m for noise of variance 1.
double variance_of_m(double beta) { return (1 - beta) / (1 + beta); }

/// d under the law tilted by e^{-s v}, and E e^{-s v}.
struct Tilted {
  double weight = 0;
  double mean = 0;
  double variance = 0;
};

/// v averages g^2, and d is g (beta = 0) or m: all g are independent, so each is tilted by itself.
Tilted tilted_by_g(double s, double beta, double beta_v, double mean) {
  Tilted d;
  double log_weight = 0;
  double share = 1 - beta;  // of this g in d
  for (double w = 1 - beta_v; w > 1e-18 || share > 1e-18; w *= beta_v) {
    const double shrink = 1 + 2 * s * w;
    log_weight -= 0.5 * std::log(shrink) + mean * mean * s * w / shrink;
    d.mean += share * mean / shrink;
    d.variance += share * share / shrink;
    share *= beta;
  }
  d.weight = std::exp(log_weight);
  return d;
}

/// v averages m^2. Back in time m is the same autoregression, so that E[e^{-s v} | m] is the
/// exponential of a quadratic, -(a m^2 + b m + c), built up from the oldest m to the last.
Tilted tilted_by_m(double s, double beta, double beta_v, double mean) {
  const double step = (1 - beta) * (1 - beta);  // variance of m given the one beside it
  const double shift = (1 - beta) * mean;
  int count = 1;
  for (double w = 1 - beta_v; w > 1e-18; w *= beta_v) ++count;
  double a = 0;
  double b = 0;
  double c = 0;
  for (int j = count; j >= 0; --j) {
    const double shrink = 1 + 2 * a * step;
    c += 0.5 * std::log(shrink) + (a * shift * shift + b * shift - b * b * step / 2) / shrink;
    b = beta * (2 * a * shift + b) / shrink;
    a = s * (1 - beta_v) * std::pow(beta_v, j) + a * beta * beta / shrink;
  }
  const double variance = variance_of_m(beta);
  const double shrink = 1 + 2 * a * variance;
  const double log_weight =
      -0.5 * std::log(shrink) - c - (a * mean * mean + b * mean - b * b * variance / 2) / shrink;
  return {std::exp(log_weight), (mean - b * variance) / shrink, variance / shrink};
}

/// E[d / sqrt(v)] and E[d^2 / v] from v^{-p} = integral of s^{p-1} e^{-s v} ds / Gamma(p).
template <class Tilt>
ExpectedStep from_transform(const Tilt& tilt) {
  // In u = log s the integrand is analytic for |Im u| < pi: equal steps converge like
  // e^{-2 pi^2 / step}.
  constexpr double kStep = 0.25;
  constexpr int kFirst = -320;
  constexpr int kLast = 360;
  ExpectedStep sum;
  for (int i = kFirst; i <= kLast; ++i) {
    const double s = std::exp(kStep * i);
    const Tilted d = tilt(s);
    if (d.weight == 0) break;  // and so it stays
    sum.mean += kStep * std::sqrt(s) * d.weight * d.mean / std::sqrt(std::numbers::pi);
    sum.square += kStep * s * d.weight * (d.mean * d.mean + d.variance);
  }
  return sum;
}

/// v depends on m_{t-1} and g_t, which are independent.
ExpectedStep from_m_and_g(const Method& method, double mean) {
  const Law of_m{Law::Kind::gaussian, mean, std::sqrt(variance_of_m(method.beta))};
  const Law of_g{Law::Kind::gaussian, mean, 1};
  const double zero[] = {0};
  const Quadrature outer = of_m.nodes(zero, 12);
  std::vector<ExpectedStep> inner(outer.nodes.size());
  parallel_for(inner.size(), [&](std::size_t i) {
    inner[i] = expected_step(method, {.m = {outer.nodes[i]}}, of_g);
  });
  ExpectedStep sum;
  for (std::size_t i = 0; i < inner.size(); ++i) {
    sum.mean += outer.weights[i] * inner[i].mean;
    sum.square += outer.weights[i] * inner[i].square;
  }
  return sum;
}

}  // namespace

ExpectedStep stationary_step(const Method& named, double mean) {
  Method method = bare(named);
  method.start = Start::first;
  const double beta = method.direction == Direction::momentum ? method.beta : 0;
  const double variance = variance_of_m(beta);
  switch (method.estimator) {
    case Estimator::instant:
      return {std::erf(mean / std::sqrt(2 * variance)), 1};
    case Estimator::constant:
      return {mean / std::sqrt(method.c), (mean * mean + variance) / method.c};
    case Estimator::ema_d:
      if (beta > 0) {
        return from_transform([&](double s) { return tilted_by_m(s, beta, method.beta_v, mean); });
      }
      [[fallthrough]];
    case Estimator::ema_g:
      return from_transform([&](double s) { return tilted_by_g(s, beta, method.beta_v, mean); });
    case Estimator::cond_full:
    case Estimator::cond_simple:
    case Estimator::cond_free:
      return from_m_and_g(method, mean);
    case Estimator::oracle: {
      const double w = 1 - beta;
      // E_t d is normal about the mean; given it, E_t d^2 = (E_t d)^2 + (1-beta)^2.
      const auto phi = [&](double q) { return q / std::hypot(q, w); };
      return {normal_mean(mean, beta * std::sqrt(variance), phi), 1};
    }
  }
  throw fail("theory", "expected a known estimator but received another one");
}

}  // namespace bcos::lab::theory
