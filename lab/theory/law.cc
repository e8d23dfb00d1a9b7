#include "lab/theory/law.hpp"

#include <cmath>
#include <numbers>

#include "lab/theory/graded_rule.hpp"

namespace bcos::lab::theory {

CentralMoments CentralMoments::moved(double a, double b) const {
  return {a + b * mean, b * b * c2, b * b * b * c3, b * b * b * b * c4};
}

double Law::sample(Noise& noise) const {
  return mean + sd * (kind == Kind::gaussian ? noise.normal() : noise.exponential() - 1);
}

CentralMoments Law::moments() const {
  const double s2 = sd * sd;
  if (kind == Kind::gaussian) return {mean, s2, 0, 3 * s2 * s2};
  return {mean, s2, 2 * s2 * sd, 9 * s2 * s2};
}

Quadrature Law::nodes(ConstSpan around, int halvings) const {
  // Beyond these ends lies less than 1e-17 of the law.
  constexpr double kGaussian = 9;
  constexpr double kExponential = 40;
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
