#include "lab/theory/law.hpp"

#include <cmath>
#include <numbers>

#include "lab/theory/graded_rule.hpp"

namespace bcos::lab::theory {

CentralMoments CentralMoments::moved(double a, double b) const {
  return {a + b * mean, b * b * c2, b * b * b * c3, b * b * b * b * c4};
}

namespace {

/// The two points of a law of mean 0 and variance 1.
double low_of(double rare) { return -std::sqrt((1 - rare) / rare); }
double high_of(double rare) { return std::sqrt(rare / (1 - rare)); }

}  // namespace

Law Law::two_points(double low, double high, double rare) {
  return {Kind::two_point, rare * low + (1 - rare) * high,
          (high - low) * std::sqrt(rare * (1 - rare)), rare};
}

double Law::sample(Noise& noise) const {
  if (kind == Kind::two_point) {
    return mean + sd * (noise.uniform() < rare ? low_of(rare) : high_of(rare));
  }
  return mean + sd * (kind == Kind::gaussian ? noise.normal() : noise.exponential() - 1);
}

CentralMoments Law::moments() const {
  const double s2 = sd * sd;
  if (kind == Kind::gaussian) return {mean, s2, 0, 3 * s2 * s2};
  if (kind == Kind::exponential) return {mean, s2, 2 * s2 * sd, 9 * s2 * s2};
  const double product = rare * (1 - rare);
  return {mean, s2, s2 * sd * (2 * rare - 1) / std::sqrt(product), s2 * s2 * (1 / product - 3)};
}

Quadrature Law::nodes(ConstSpan around, int halvings) const {
  // Beyond these ends lies less than 1e-17 of the law.
  constexpr double kGaussian = 9;
  constexpr double kExponential = 40;
  if (kind == Kind::two_point) {
    return {{mean + sd * low_of(rare), mean + sd * high_of(rare)}, {rare, 1 - rare}};
  }
  Vector points(around.begin(), around.end());
  for (double& point : points) point = (point - mean) / sd;
  const bool gaussian = kind == Kind::gaussian;
  Quadrature rule = gaussian ? graded_rule(-kGaussian, kGaussian, points, halvings)
                             : graded_rule(-1, kExponential - 1, points, halvings);
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    const double z = rule.nodes[i];
    rule.weights[i] *=
        gaussian ? std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi) : std::exp(-(z + 1));
    rule.nodes[i] = mean + sd * z;
  }
  return rule;
}

}  // namespace bcos::lab::theory
