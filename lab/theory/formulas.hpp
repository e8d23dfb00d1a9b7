#pragma once

#include <cstdint>

#include "lab/theory/problem.hpp"
#include "lab/theory/simulation.hpp"

/// The paper's formulas, each once.
namespace bcos::lab::theory {

/// B_* = m + lambda^2 |x_*|^2 + 2 lambda sum_k |x_{*,k}|, m the number of blocks.
double b_star(const Problem& problem, double lambda, ConstSpan target);

/// How many blocks have E|d_k|^2 > 0: no other ones move.
double moving_blocks(const Problem& problem, ConstSpan x);

/// E_t|x_{t+1} - x_*|^2 of the conceptual method from x, exactly.
double one_step_distance(const Problem& problem, ConstSpan x, double alpha, double lambda,
                         ConstSpan target);

/// (1 - alpha lambda)^2 |e|^2 + alpha^2 B_*: the one-step bound.
double one_step_bound(double squared_distance, double alpha, double lambda, double b_star);

/// <x - x_*, phi(x) + lambda x_*>.
double aiming_margin(const Problem& problem, ConstSpan x, double lambda, ConstSpan target);
/// The same of another phi: that of momentum, given m.
double aiming_margin(ConstSpan x, ConstSpan phi, double lambda, ConstSpan target);

/// R_0 = D_0, R_{t+1} = (1 - alpha_t lambda)^2 R_t + alpha_t^2 B_*, at `times` (increasing).
Vector bound_recursion(const Stepsizes& stepsizes, double lambda, double b_star, double d0,
                       std::span<const std::uint64_t> times);

/// What R_t tends to: under a constant stepsize itself, under alpha/(t+1) times t+1, under
/// alpha/(t+1)^p times (t+1)^p. The same for a linear recursion with kappa for lambda and the
/// variance of its noise for B_*.
double constant_limit(double alpha, double lambda, double b_star);
double inverse_limit(double alpha, double lambda, double b_star);  ///< 2 alpha lambda > 1
double power_limit(double alpha, double lambda, double b_star);

/// The sum of such a limit over coordinates that each have their own kappa and variance.
double sum_of_limits(double (*limit)(double, double, double), double alpha, ConstSpan kappa,
                     ConstSpan nu);

}  // namespace bcos::lab::theory
