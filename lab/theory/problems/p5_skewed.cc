#include "lab/theory/problems/examples.hpp"

namespace bcos::lab::theory {
namespace {

const RegisterProblem registered{{"P5", "quadratic that single coordinates cannot aim at",
                                  [] { return std::make_unique<SkewedQuadratic>(); }}};

}  // namespace

void SkewedQuadratic::sample(ConstSpan x, Noise& /*noise*/, Span d) const {
  d[0] = (1 + q) * x[0] - 2 * x[1];
  d[1] = -2 * x[0] + (4 + q) * x[1];
}

bool SkewedQuadratic::moments(ConstSpan x, Span mean, Span second) const {
  mean[0] = (1 + q) * x[0] - 2 * x[1];
  mean[1] = -2 * x[0] + (4 + q) * x[1];
  second[0] = mean[0] * mean[0];
  second[1] = mean[1] * mean[1];
  return true;
}

}  // namespace bcos::lab::theory
