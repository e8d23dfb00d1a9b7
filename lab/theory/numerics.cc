#include "lab/theory/numerics.hpp"

#include <cmath>
#include <numbers>

namespace bcos::lab::theory {
namespace {

constexpr int kNodes = 160;

/// He_k / sqrt(k!) for k = kNodes and kNodes - 1 at x: orthonormal, so that nothing overflows.
std::pair<double, double> hermite(double x) {
  double before = 0;
  double now = 1;
  for (int k = 0; k < kNodes; ++k) {
    const double next = (x * now - std::sqrt(static_cast<double>(k)) * before) / std::sqrt(k + 1.0);
    before = now;
    now = next;
  }
  return {now, before};
}

/// How many of the polynomial's zeros lie below x: Sturm's count of sign changes.
int zeros_below(double x) {
  int count = 0;
  double ratio = x;
  for (int k = 1; k <= kNodes; ++k) {
    if (ratio > 0) ++count;
    if (ratio == 0) ratio = 1e-300;
    ratio = x - k / ratio;
  }
  return count;
}

Quadrature make() {
  Quadrature rule;
  rule.nodes.resize(kNodes);
  rule.weights.resize(kNodes);
  const double most = 2 * std::sqrt(kNodes + 1.0);
  for (int i = kNodes / 2; i < kNodes; ++i) {
    double least = 0;
    double greatest = most;
    for (int halving = 0; halving < 200; ++halving) {
      const double middle = (least + greatest) / 2;
      (zeros_below(middle) > i ? greatest : least) = middle;
    }
    const double node = (least + greatest) / 2;
    const double derivative = std::sqrt(static_cast<double>(kNodes)) * hermite(node).second;
    const double weight = 1 / (derivative * derivative);
    rule.nodes[static_cast<std::size_t>(i)] = node;
    rule.nodes[static_cast<std::size_t>(kNodes - 1 - i)] = -node;
    rule.weights[static_cast<std::size_t>(i)] = weight;
    rule.weights[static_cast<std::size_t>(kNodes - 1 - i)] = weight;
  }
  double sum = 0;
  for (const double weight : rule.weights) sum += weight;
  for (double& weight : rule.weights) weight /= sum;
  return rule;
}

}  // namespace

double increasing_root(const std::function<double(double)>& f, double least, double most) {
  for (int i = 0; i < 200; ++i) {
    const double middle = least + (most - least) / 2;
    if (middle == least || middle == most) break;
    (f(middle) < 0 ? least : most) = middle;
  }
  return std::abs(f(least)) < std::abs(f(most)) ? least : most;
}

const Quadrature& gauss_hermite() {
  static const Quadrature rule = make();
  return rule;
}

double normal_mean(double mean, double sd, const std::function<double(double)>& f) {
  const Quadrature& rule = gauss_hermite();
  double sum = 0;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    sum += rule.weights[i] * f(mean + sd * rule.nodes[i]);
  }
  return sum;
}

double zeta(double s) {
  // Euler and Maclaurin from the twentieth term on; the first term left out is below 1e-15.
  constexpr double kFrom = 20;
  double sum = 0;
  for (double k = 1; k < kFrom; ++k) sum += std::pow(k, -s);
  const double last = std::pow(kFrom, -s);
  double rest = kFrom / (s - 1) + 0.5;
  double rising = s / kFrom;
  constexpr double kBernoulli[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600};
  double next = s;
  for (const double b : kBernoulli) {
    rest += b * rising;
    rising *= (next + 1) * (next + 2) / (kFrom * kFrom);
    next += 2;
  }
  return sum + last * rest;
}

}  // namespace bcos::lab::theory
