#include "lab/theory/limits.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "bcos/step_numbers.hpp"
#include "lab/theory/problems/quadratic.hpp"

namespace bcos::lab::theory {
namespace {

using std::numbers::pi;
using std::numbers::sqrt2;

double density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * pi); }
double below(double z) { return std::erfc(-z / sqrt2) / 2; }

/// E f(N(0,1)) by the trapezoidal rule, which gains digits with every halving of its step where f
/// is analytic: more than Gauss's rule does for f with poles near the real line.
template <class F>
double mean_over_normal(F f) {
  constexpr int kSteps = 320;
  constexpr double kStep = 10.0 / kSteps;
  double sum = 0;
  for (int i = -kSteps; i <= kSteps; ++i) sum += density(kStep * i) * f(kStep * i);
  return kStep * sum;
}

bool is_conditional(Estimator estimator) {
  return estimator == Estimator::cond_full || estimator == Estimator::cond_simple ||
         estimator == Estimator::cond_free;
}

/// v = m2 m^2 + g2 (g + shift m)^2.
struct Conditional {
  double m2, g2, shift;

  explicit Conditional(const Method& method) {
    constexpr std::uint64_t kLongAfterTheStart = 1'000'000'000;
    const StepNumbers numbers = step_numbers(method, 1, kLongAfterTheStart, 1);
    m2 = numbers.p;
    g2 = numbers.q;
    shift = method.estimator == Estimator::cond_full ? numbers.beta : 0;
  }
};

/// E[d / sqrt(v)] over m and g. It depends on their ratio alone, so that of the two dimensions the
/// radius is integrated by hand, and the angle, on which all is smooth and periodic, by sums.
double conditional_field(const Method& method, double mean, double s) {
  constexpr int kAngles = 2048;
  const Conditional v(method);
  const double s_m = momentum_deviation(s, method.beta);
  const double centre_m = mean / s_m;
  const double centre_g = mean / s;
  const double centre2 = centre_m * centre_m + centre_g * centre_g;
  double sum = 0;
  for (int i = 0; i < kAngles; ++i) {
    const double angle = 2 * pi * i / kAngles;
    const double m = s_m * std::cos(angle);
    const double g = s * std::sin(angle);
    const double along = centre_m * std::cos(angle) + centre_g * std::sin(angle);
    const double weight = std::exp(-centre2 / 2) + along * std::sqrt(2 * pi) * below(along) *
                                                       std::exp((along * along - centre2) / 2);
    const double d = method.beta * m + (1 - method.beta) * g;
    const double g_shifted = g + v.shift * m;
    sum += weight * d / std::sqrt(v.m2 * m * m + v.g2 * g_shifted * g_shifted);
  }
  return sum / kAngles;
}

/// The largest |f(m)|: a search on a grid that is fine near 0, then golden sections about the best.
double largest(const std::function<double(double)>& f, double scale) {
  constexpr int kHalf = 200;
  const auto place = [&](int i) { return scale * std::sinh(6.0 * i / kHalf) / std::sinh(6.0); };
  int best = 0;
  double most = 0;
  for (int i = -kHalf; i <= kHalf; ++i) {
    const double value = std::abs(f(place(i)));
    if (value > most) {
      most = value;
      best = i;
    }
  }
  double low = place(best - 1);
  double high = place(best + 1);
  constexpr double kGolden = 1 / std::numbers::phi;
  while (high - low > 1e-9 * scale) {
    const double a = high - kGolden * (high - low);
    const double b = low + kGolden * (high - low);
    (std::abs(f(a)) > std::abs(f(b)) ? high : low) = std::abs(f(a)) > std::abs(f(b)) ? b : a;
  }
  return std::max(most, std::abs(f((low + high) / 2)));
}

double phi(double mean, double s) { return mean / std::hypot(mean, s); }

}  // namespace

double momentum_deviation(double s, double beta) { return s * std::sqrt((1 - beta) / (1 + beta)); }

double sign_field(double mean, double s) { return std::erf(mean / (s * sqrt2)); }

double conceptual_momentum_field(double mean, double s, double beta) {
  const double deviation = beta * momentum_deviation(s, beta);
  return mean_over_normal([&](double z) { return phi(mean + deviation * z, (1 - beta) * s); });
}

double long_run_variance(double mean, double s, double beta) {
  // m_{t+1} is normal given m_t: both on a grid, fine against the noise of one step.
  constexpr std::size_t kPoints = 241;
  constexpr int kForgotten = 400;  // steps until beta^j is nothing
  const double deviation = momentum_deviation(s, beta);
  const double step = (1 - beta) * s;
  Vector m(kPoints), law(kPoints), phi_of_m(kPoints), scale(kPoints);
  std::vector<Vector> kernel(kPoints, Vector(kPoints));
  double all = 0;
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double z = 14 * static_cast<double>(i) / (kPoints - 1) - 7;
    m[i] = mean + deviation * z;
    all += law[i] = density(z);
    const double expected = beta * m[i] + (1 - beta) * mean;
    scale[i] = std::hypot(expected, step);
    phi_of_m[i] = expected / scale[i];
  }
  for (double& weight : law) weight /= all;
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double expected = beta * m[i] + (1 - beta) * mean;
    double sum = 0;
    for (std::size_t j = 0; j < kPoints; ++j) {
      sum += kernel[i][j] = density((m[j] - expected) / step);
    }
    for (double& share : kernel[i]) share /= sum;
  }
  const double average = dot(law, phi_of_m);
  // later[i]: the sum of E[y_j] - average over all steps after one that left m at m_i.
  Vector now = phi_of_m;
  for (double& value : now) value -= average;
  Vector later(kPoints, 0.0);
  for (int j = 0; j < kForgotten; ++j) {
    for (std::size_t i = 0; i < kPoints; ++i) later[i] += now[i];
    Vector next(kPoints);
    for (std::size_t i = 0; i < kPoints; ++i) next[i] = dot(kernel[i], now);
    now = std::move(next);
  }
  double with_later = 0;
  for (std::size_t i = 0; i < kPoints; ++i) {
    for (std::size_t j = 0; j < kPoints; ++j) {
      with_later += law[i] * kernel[i][j] * m[j] / scale[i] * later[j];
    }
  }
  return 1 - average * average + 2 * with_later;
}

std::optional<Field> field_of(const Method& method) {
  if (method.rule != StepRule::sqrt) return std::nullopt;
  const double beta = method.direction == Direction::momentum ? method.beta : 0;
  if (method.estimator == Estimator::instant) {
    return [beta](double mean, double s) { return sign_field(mean, momentum_deviation(s, beta)); };
  }
  if (method.estimator == Estimator::oracle) {
    return [beta](double mean, double s) {
      return beta == 0 ? phi(mean, s) : conceptual_momentum_field(mean, s, beta);
    };
  }
  if (is_conditional(method.estimator) && beta > 0) {
    return [method](double mean, double s) { return conditional_field(method, mean, s); };
  }
  return std::nullopt;
}

double momentum_phi(double mean, double s, double m, double beta) {
  return phi(beta * m + (1 - beta) * mean, (1 - beta) * s);
}

double conditional_step(const Method& method, double mean, double s, double m) {
  const Conditional v(method);
  const double w = 1 - method.beta;
  if (m == 0) return w / std::sqrt(v.g2) * sign_field(mean, s);
  // g + shift m = width sinh(u) makes sqrt(v) = sqrt(m2) |m| cosh(u): smooth however small m is.
  const double width = std::sqrt(v.m2 / v.g2) * std::abs(m);
  const auto u_of = [&](double g) { return std::asinh((g + v.shift * m) / width); };
  constexpr int kSteps = 800;
  const double first = u_of(mean - 10 * s);
  const double step = (u_of(mean + 10 * s) - first) / kSteps;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double g = width * std::sinh(first + step * i) - v.shift * m;
    sum += (method.beta * m + w * g) * density((g - mean) / s);
  }
  return step * sum / (s * std::sqrt(v.g2));
}

std::optional<double> largest_step_difference(const Method& method, double mean, double s) {
  if (is_conditional(method.estimator) && method.beta > 0) {
    const auto difference = [&](double m) {
      return conditional_step(method, mean, s, m) - momentum_phi(mean, s, m, method.beta);
    };
    // Beyond this m and its estimate agree, and the difference only falls.
    return largest(difference, 10 * (s + std::abs(mean)));
  }
  if (method.estimator == Estimator::instant) {
    const auto difference = [](double r) { return sign_field(r, 1) - phi(r, 1); };
    // Momentum can stand anywhere, a gradient's mean is what it is.
    if (method.direction == Direction::momentum && method.beta > 0) return largest(difference, 8);
    return std::abs(difference(mean / s));
  }
  if (method.direction == Direction::momentum) return std::nullopt;
  if (method.estimator == Estimator::ema_d) {
    // E_t[g / sqrt(beta_v v + (1-beta_v) g^2)] falls from the first to 0 as v grows from 0.
    const double at_zero = sign_field(mean, s) / std::sqrt(1 - method.beta_v);
    return std::max(std::abs(at_zero - phi(mean, s)), std::abs(phi(mean, s)));
  }
  return std::nullopt;
}

std::optional<Vector> exact_limit(const Problem& problem, const Method& method, double lambda) {
  const auto* quadratic = dynamic_cast<const Quadratic*>(&problem);
  const auto field = field_of(method);
  if (quadratic == nullptr || !field) return std::nullopt;
  return quadratic->zero_of(*field, lambda);
}

}  // namespace bcos::lab::theory
