#include "lab/theory/problems/examples.hpp"

namespace bcos::lab::theory {
namespace {

const RegisterProblem registered{
    {"P3", "polynomial: E d = x (x-3)^2 (x+2)^2", [] { return std::make_unique<Polynomial>(); }}};

}  // namespace

double Polynomial::mean(double x) const {
  return x * (x - 3) * (x - 3) * (x + 2) * (x + 2) + q * x;
}

void Polynomial::sample(ConstSpan x, Noise& noise, Span d) const {
  d[0] = mean(x[0]) + s * noise.normal();
}

bool Polynomial::moments(ConstSpan x, Span mean_out, Span second) const {
  mean_out[0] = mean(x[0]);
  second[0] = mean_out[0] * mean_out[0] + s * s;
  return true;
}

}  // namespace bcos::lab::theory
