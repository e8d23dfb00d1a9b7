#include "lab/theory/graded_rule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace bcos::lab::theory {
namespace {

constexpr int kNodes = 16;
constexpr int kPanels = 24;  ///< before any is halved

/// The Legendre polynomial of degree kNodes at x, and its derivative.
std::array<double, 2> legendre(double x) {
  double before = 1;
  double now = x;
  for (int k = 2; k <= kNodes; ++k) {
    const double next = ((2 * k - 1) * x * now - (k - 1) * before) / k;
    before = now;
    now = next;
  }
  return {now, kNodes * (x * now - before) / (x * x - 1)};
}

/// Gauss and Legendre on [-1, 1].
Quadrature make() {
  Quadrature rule;
  for (int i = 0; i < kNodes; ++i) {
    double x = -std::cos(std::numbers::pi * (i + 0.75) / (kNodes + 0.5));
    for (int step = 0; step < 20; ++step) {
      const auto [value, derivative] = legendre(x);
      x -= value / derivative;
    }
    const double derivative = legendre(x)[1];
    rule.nodes.push_back(x);
    rule.weights.push_back(2 / ((1 - x * x) * derivative * derivative));
  }
  return rule;
}

class Builder {
 public:
  Builder(double least_width, ConstSpan points) : least_width_(least_width), points_(points) {}

  /// The panel [a, b] in halves while a point is nearer than the panel is wide.
  void add(double a, double b) {
    double nearest = std::numeric_limits<double>::infinity();
    for (const double p : points_) {
      nearest = std::min(nearest, std::max({a - p, p - b, 0.0}));
    }
    const double middle = a + (b - a) / 2;
    if (nearest < b - a && b - a > least_width_ && a < middle && middle < b) {
      add(a, middle);
      add(middle, b);
      return;
    }
    static const Quadrature unit = make();
    for (std::size_t i = 0; i < unit.nodes.size(); ++i) {
      rule.nodes.push_back(middle + (b - a) / 2 * unit.nodes[i]);
      rule.weights.push_back((b - a) / 2 * unit.weights[i]);
    }
  }

  Quadrature rule;

 private:
  double least_width_;
  ConstSpan points_;
};

}  // namespace

Quadrature graded_rule(double least, double most, ConstSpan around, int halvings) {
  Vector points(around.begin(), around.end());
  // A point beyond an end may still be near it.
  for (double& point : points) point = std::clamp(point, least, most);
  Vector edges = points;
  for (int i = 0; i <= kPanels; ++i) edges.push_back(least + (most - least) * i / kPanels);
  std::ranges::sort(edges);
  Builder builder(std::ldexp((most - least) / kPanels, -halvings), points);
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (edges[i - 1] < edges[i]) builder.add(edges[i - 1], edges[i]);
  }
  return std::move(builder.rule);
}

}  // namespace bcos::lab::theory
