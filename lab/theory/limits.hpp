#pragma once

#include <functional>
#include <optional>

#include "bcos/method.hpp"
#include "lab/theory/problem.hpp"

/// Where methods end when stepsizes fall so slowly that their states are always up to date: at the
/// zero of psi(x) + lambda x, psi(x) = E[d / sqrt(v)] in the stationary law of the states at x.
/// All of it for one coordinate with normal gradients, g ~ N(mean, s^2), and eps = 0.
namespace bcos::lab::theory {

/// psi as a function of the gradient's mean and s.
using Field = std::function<double(double mean, double s)>;

/// The standard deviation of momentum at rest: s sqrt((1-beta) / (1+beta)).
double momentum_deviation(double s, double beta);

/// E sign(y), y ~ N(mean, s^2).
double sign_field(double mean, double s);
/// E[Q / sqrt(Q^2 + (1-beta)^2 s^2)], Q = E_t m_t in the law of momentum at rest.
double conceptual_momentum_field(double mean, double s, double beta);

/// psi of a method where it is known in closed form or by quadrature: the conceptual method with
/// and without momentum, signs of either, the conditional estimators. Nothing: simulate.
std::optional<Field> field_of(const Method& method);

/// The sum over all j of Cov(y_0, y_j), y_t = m_t / sqrt(E_t m_t^2) at a fixed x: what the sum of
/// many steps of conceptual momentum varies by, a step.
double long_run_variance(double mean, double s, double beta);

/// phi_t of momentum that stands at m.
double momentum_phi(double mean, double s, double m, double beta);
/// E_t[d / sqrt(v)] of a conditional estimator when momentum stands at m.
double conditional_step(const Method& method, double mean, double s, double m);
/// The most that |E_t[d / sqrt(v)] - phi_t| can be at this mean, whatever the states: an essential
/// supremum. For signs, the conditional estimators, and ema_d of gradients.
std::optional<double> largest_step_difference(const Method& method, double mean, double s);

/// The zero of psi(x) + lambda x on the separable quadratic; nothing for other problems, and for
/// methods whose psi is not known.
std::optional<Vector> exact_limit(const Problem& problem, const Method& method, double lambda);

}  // namespace bcos::lab::theory
