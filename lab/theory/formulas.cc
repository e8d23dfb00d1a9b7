#include "lab/theory/formulas.hpp"

#include <algorithm>

namespace bcos::lab::theory {

double b_star(const Problem& problem, double lambda, ConstSpan target) {
  return static_cast<double>(problem.blocks()) + lambda * lambda * squared_norm(target) +
         2 * lambda * sum_of_norms(target, problem.block_size());
}

double moving_blocks(const Problem& problem, ConstSpan x) {
  Vector mean(problem.size());
  Vector second(problem.blocks());
  known_moments(problem, x, mean, second);
  return static_cast<double>(std::ranges::count_if(second, [](double value) { return value > 0; }));
}

double one_step_distance(const Problem& problem, ConstSpan x, double alpha, double lambda,
                         ConstSpan target) {
  const Vector phi = phi_of(problem, x);
  const double keep = 1 - alpha * lambda;
  const double noise = moving_blocks(problem, x) + lambda * lambda * squared_norm(target) +
                       2 * lambda * dot(target, phi);
  return keep * keep * squared_distance(x, target) -
         2 * alpha * keep * aiming_margin(problem, x, lambda, target) + alpha * alpha * noise;
}

double one_step_bound(double squared_distance, double alpha, double lambda, double b_star) {
  const double keep = 1 - alpha * lambda;
  return keep * keep * squared_distance + alpha * alpha * b_star;
}

double aiming_margin(const Problem& problem, ConstSpan x, double lambda, ConstSpan target) {
  return aiming_margin(x, phi_of(problem, x), lambda, target);
}

double aiming_margin(ConstSpan x, ConstSpan phi, double lambda, ConstSpan target) {
  const Vector e = minus(x, target);
  return dot(e, phi) + lambda * dot(e, target);
}

Vector bound_recursion(const Stepsizes& stepsizes, double lambda, double b_star, double d0,
                       std::span<const std::uint64_t> times) {
  Vector bounds;
  bounds.reserve(times.size());
  double bound = d0;
  std::uint64_t t = 0;
  for (const std::uint64_t time : times) {
    for (; t < time; ++t) bound = one_step_bound(bound, stepsizes.at(t), lambda, b_star);
    bounds.push_back(bound);
  }
  return bounds;
}

double constant_limit(double alpha, double lambda, double b_star) {
  const double keep = 1 - alpha * lambda;
  return alpha * alpha * b_star / (1 - keep * keep);
}

double inverse_limit(double alpha, double lambda, double b_star) {
  return alpha * alpha * b_star / (2 * alpha * lambda - 1);
}

double power_limit(double alpha, double lambda, double b_star) {
  return alpha * b_star / (2 * lambda);
}

double sum_of_limits(double (*limit)(double, double, double), double alpha, ConstSpan kappa,
                     ConstSpan nu) {
  double sum = 0;
  for (std::size_t k = 0; k < kappa.size(); ++k) sum += limit(alpha, kappa[k], nu[k]);
  return sum;
}

}  // namespace bcos::lab::theory
