#pragma once

#include <string>
#include <vector>

#include "lab/theory/aimed.hpp"
#include "lab/theory/findings.hpp"
#include "lab/theory/simulation.hpp"

/// Means over replicates at every step, and their comparison with bounds at every step.
namespace bcos::lab::theory {

/// A mean for t = 0, 1, ..., steps.
using Course = std::vector<numbers::Estimate>;

/// The mean of f(x_t) over the replicates.
Course course_of(const Simulation& simulation, const std::function<double(ConstSpan x)>& f);

/// E|x_t - x_*|^2 of the conceptual method.
Course distance_course(const Aimed& aimed, const Stepsizes& stepsizes, std::uint64_t steps,
                       std::uint64_t replicates, std::uint64_t key);

/// R_t for t = 0, 1, ..., steps.
Vector bound_course(const Aimed& aimed, const Stepsizes& stepsizes, std::uint64_t steps);

/// The sum over the coordinates of R_t, each with a kappa, a variance and a start of its own: the
/// second moment of a linear recursion x = (1 - alpha_t kappa) x + alpha_t sqrt(nu) z.
Vector linear_course(const Stepsizes& stepsizes, ConstSpan kappa, ConstSpan nu, ConstSpan e0,
                     std::uint64_t steps);

/// Checked at every t, recorded at the one where it comes nearest to failing, as the worst of so
/// many.
Check& within(Findings& findings, const std::string& what, const Course& course, ConstSpan bound);
Check& equals(Findings& findings, const std::string& what, const Course& course, ConstSpan exact);

}  // namespace bcos::lab::theory
