#include <cmath>

#include "lab/theory/problems/examples.hpp"

namespace bcos::lab::theory {
namespace {

const RegisterProblem registered{{"P7",
                                  "coupled quadratic: d = A (x - c) + s z, A = [[1, q], [q, 1]]",
                                  [] { return std::make_unique<CoupledQuadratic>(); }}};

}  // namespace

void CoupledQuadratic::sample(ConstSpan x, Noise& noise, Span d) const {
  d[0] = (x[0] - c[0]) + q * (x[1] - c[1]) + s[0] * noise.normal();
  d[1] = q * (x[0] - c[0]) + (x[1] - c[1]) + s[1] * noise.normal();
}

bool CoupledQuadratic::moments(ConstSpan x, Span mean, Span second) const {
  mean[0] = (x[0] - c[0]) + q * (x[1] - c[1]);
  mean[1] = q * (x[0] - c[0]) + (x[1] - c[1]);
  for (std::size_t k = 0; k < 2; ++k) second[k] = mean[k] * mean[k] + s[k] * s[k];
  return true;
}

std::optional<Vector> CoupledQuadratic::target(double lambda) const {
  if (lambda == 0) return c;
  // Where phi(x) + lambda x = 0: following it against its direction leads there.
  constexpr int kSteps = 4000;
  constexpr double kStep = 0.3;
  Vector x = c;
  for (int i = 0; i < kSteps; ++i) {
    const Vector phi = phi_of(*this, x);
    for (std::size_t k = 0; k < 2; ++k) x[k] -= kStep * (phi[k] + lambda * x[k]);
  }
  return x;
}

}  // namespace bcos::lab::theory
