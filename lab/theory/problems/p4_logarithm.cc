#include <cmath>

#include "lab/theory/problems/examples.hpp"

namespace bcos::lab::theory {
namespace {

const RegisterProblem registered{
    {"P4", "logarithm: E d = 1/x", [] { return std::make_unique<Logarithm>(); }}};

/// 1/x; at 0, where F has no gradient, none is reported.
double slope(double x) { return x == 0 ? 0 : 1 / x; }

}  // namespace

void Logarithm::sample(ConstSpan x, Noise& noise, Span d) const {
  d[0] = slope(x[0]) + s * noise.normal();
}

bool Logarithm::moments(ConstSpan x, Span mean, Span second) const {
  mean[0] = slope(x[0]);
  second[0] = mean[0] * mean[0] + s * s;
  return true;
}

}  // namespace bcos::lab::theory
