#pragma once

#include "lab/theory/claim.hpp"
#include "lab/theory/problems/quadratic.hpp"

/// T18 in two parts: momentum at rest at a given distance, and momentum along runs.
namespace bcos::lab::theory::t18 {

inline constexpr double kLambda = 0.5;
inline constexpr double kBeta = 0.9;

enum Mutant { kForgotten = 1, kOtherTarget, kPenalty, kCoupling };

/// Conceptual momentum on the standard quadratic.
class Case {
 public:
  const Setup& setup;
  Quadratic problem;
  Vector target;    ///< x_*, the gradient's
  Vector momentum;  ///< momentum's own

  explicit Case(const Setup& how);

  /// The point at this distance from another, in the direction (1, 1, 1, 1).
  static Vector at(double away, Vector from);
  /// <x - x_*, phi_t + lambda x_*>, x_* momentum's own, when momentum stands at m.
  double margin(ConstSpan x, ConstSpan m) const;
};

/// What the assumption says of every step, along runs with momentum and without; the share of steps
/// that do not aim, by distance, goes into the figure.
void check_along_runs(const Case& c, lab::plot::Figure& figure, Findings& findings);

}  // namespace bcos::lab::theory::t18
