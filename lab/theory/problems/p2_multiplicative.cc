#include <cmath>

#include "lab/theory/problems/examples.hpp"

namespace bcos::lab::theory {
namespace {

const RegisterProblem registered{{"P2", "multiplicative noise: d = a (x - c)(1 + s z)",
                                  [] { return std::make_unique<MultiplicativeNoise>(); }}};

}  // namespace

void MultiplicativeNoise::sample(ConstSpan x, Noise& noise, Span d) const {
  for (std::size_t k = 0; k < d.size(); ++k) {
    d[k] = a[k] * (x[k] - c[k]) * (1 + s * noise.normal());
  }
}

bool MultiplicativeNoise::moments(ConstSpan x, Span mean, Span second) const {
  for (std::size_t k = 0; k < mean.size(); ++k) {
    mean[k] = a[k] * (x[k] - c[k]);
    second[k] = mean[k] * mean[k] * (1 + s * s);
  }
  return true;
}

std::optional<Vector> MultiplicativeNoise::target(double lambda) const {
  for (const double center : c) {
    if (lambda * std::abs(center) > 1 / std::sqrt(1 + s * s)) return std::nullopt;
  }
  return c;
}

}  // namespace bcos::lab::theory
