#include "lab/theory/problems/noise_alone.hpp"

#include <cmath>

namespace bcos::lab::theory {
namespace {

constexpr Law kSkewed{Law::Kind::exponential, 0, 1};

}  // namespace

void NoiseAlone::sample(ConstSpan /*x*/, Noise& noise, Span d) const {
  for (double& value : d) value = law.sample(noise);
}

bool NoiseAlone::moments(ConstSpan /*x*/, Span mean, Span second) const {
  for (double& value : mean) value = law.mean;
  for (double& value : second) value = static_cast<double>(block) * law.moments().second();
  return true;
}

std::optional<Vector> NoiseAlone::target(double /*lambda*/) const {
  if (law.mean != 0) return std::nullopt;
  return Vector(n, 0.0);
}

NoiseAlone skewed_noise(std::size_t n, std::size_t block) { return NoiseAlone(kSkewed, n, block); }

double skewed_sign(std::size_t block) {
  const double zero[] = {0};
  const Quadrature rule = kSkewed.nodes(zero);
  double sum = 0;
  if (block == 1) return 2 * std::exp(-1.0) - 1;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    const double y = rule.nodes[i];
    for (std::size_t j = 0; j < rule.nodes.size(); ++j) {
      sum += rule.weights[i] * rule.weights[j] * y / std::hypot(y, rule.nodes[j]);
    }
  }
  return sum;
}

}  // namespace bcos::lab::theory
