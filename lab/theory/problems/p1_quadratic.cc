#include <algorithm>
#include <cmath>

#include "lab/theory/numerics.hpp"
#include "lab/theory/problems/quadratic.hpp"

namespace bcos::lab::theory {
namespace {

const RegisterProblem one{{"P1", "separable quadratic: d = a (x - c) + s z",
                           [] { return std::make_unique<Quadratic>(); }}};
const RegisterProblem blocks{
    {"P1b", "the same in blocks of two", [] { return std::make_unique<BlockQuadratic>(); }}};

}  // namespace

void Quadratic::sample(ConstSpan x, Noise& noise, Span d) const {
  for (std::size_t k = 0; k < d.size(); ++k) d[k] = a[k] * (x[k] - c[k]) + s[k] * noise.normal();
}

bool Quadratic::moments(ConstSpan x, Span mean, Span second) const {
  for (std::size_t k = 0; k < mean.size(); ++k) {
    mean[k] = a[k] * (x[k] - c[k]);
    second[k] = mean[k] * mean[k] + s[k] * s[k];
  }
  return true;
}

Vector Quadratic::zero_of(const std::function<double(double, double)>& psi, double lambda) const {
  Vector zero(size());
  for (std::size_t k = 0; k < zero.size(); ++k) {
    const auto pull = [&](double x) { return psi(a[k] * (x - c[k]), s[k]) + lambda * x; };
    zero[k] = c[k] == 0 ? 0 : increasing_root(pull, std::min(0.0, c[k]), std::max(0.0, c[k]));
  }
  return zero;
}

std::optional<Vector> Quadratic::target(double lambda) const {
  return zero_of([](double mean, double s) { return mean / std::hypot(mean, s); }, lambda);
}

Vector Quadratic::kappa(double lambda) const {
  const Vector x = *target(lambda);
  Vector kappa(size());
  for (std::size_t k = 0; k < kappa.size(); ++k) {
    const double mean = a[k] * (x[k] - c[k]);
    kappa[k] = a[k] * s[k] * s[k] / std::pow(mean * mean + s[k] * s[k], 1.5) + lambda;
  }
  return kappa;
}

Vector Quadratic::noise_variance(double lambda) const {
  Vector variance = *target(lambda);
  for (double& x : variance) x = 1 - lambda * lambda * x * x;
  return variance;
}

Quadratic unit_noise(const Vector& means) {
  Quadratic problem;
  problem.a.assign(means.size(), 1);
  problem.s.assign(means.size(), 1);
  problem.c = means;
  for (double& c : problem.c) c = -c;
  return problem;
}

void BlockQuadratic::sample(ConstSpan x, Noise& noise, Span d) const {
  for (std::size_t i = 0; i < d.size(); ++i) {
    const std::size_t k = i / block_size();
    d[i] = a[k] * (x[i] - c[i]) + s[k] * noise.normal();
  }
}

bool BlockQuadratic::moments(ConstSpan x, Span mean, Span second) const {
  const double size_k = static_cast<double>(block_size());
  for (std::size_t k = 0; k < blocks(); ++k) second[k] = size_k * s[k] * s[k];
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const std::size_t k = i / block_size();
    mean[i] = a[k] * (x[i] - c[i]);
    second[k] += mean[i] * mean[i];
  }
  return true;
}

Vector BlockQuadratic::kappa(double lambda) const {
  Vector mean(size());
  Vector second(blocks());
  moments(*target(lambda), mean, second);
  Vector kappa(size());
  for (std::size_t k = 0; k < blocks(); ++k) {
    const double noise = static_cast<double>(block_size()) * s[k] * s[k];
    kappa[2 * k] = a[k] * noise / std::pow(second[k], 1.5) + lambda;
    kappa[2 * k + 1] = a[k] / std::sqrt(second[k]) + lambda;
  }
  return kappa;
}

Vector BlockQuadratic::noise_variance(double lambda) const {
  Vector mean(size());
  Vector second(blocks());
  moments(*target(lambda), mean, second);
  Vector variance(size());
  for (std::size_t i = 0; i < size(); ++i) variance[i] = s[i / 2] * s[i / 2] / second[i / 2];
  return variance;
}

Vector BlockQuadratic::start_error(double lambda) const {
  const Vector x = *target(lambda);
  const Vector e = minus(start(), x);
  Vector turned(size());
  for (std::size_t i = 0; i < size(); i += 2) {
    const double norm = std::hypot(c[i], c[i + 1]);
    turned[i] = (e[i] * c[i] + e[i + 1] * c[i + 1]) / norm;
    turned[i + 1] = (e[i + 1] * c[i] - e[i] * c[i + 1]) / norm;
  }
  return turned;
}

std::optional<Vector> BlockQuadratic::target(double lambda) const {
  // x_{*,k} = theta_k c_k.
  Vector target = c;
  for (std::size_t k = 0; k < blocks(); ++k) {
    const Span part = Span(target).subspan(k * block_size(), block_size());
    const double c2 = squared_norm(part);
    const double noise = static_cast<double>(block_size()) * s[k] * s[k];
    const auto pull = [&](double theta) {
      const double away = a[k] * (theta - 1);
      return away / std::sqrt(away * away * c2 + noise) + lambda * theta;
    };
    const double theta = increasing_root(pull, 0, 1);
    for (double& x : part) x *= theta;
  }
  return target;
}

}  // namespace bcos::lab::theory
