#include <fmt/format.h>

#include <cmath>

#include "lab/theory/claim.hpp"
#include "lab/theory/formulas.hpp"
#include "lab/theory/simulation.hpp"

namespace bcos::theory {
namespace {

struct Case {
  const NamedProblem& named;
  const Problem& problem;
  double lambda;
  Vector target;
  double b_star;
};

/// One step from one point, sampled through the engine.
Estimate sampled(const Case& c, const Vector& x, double alpha, std::uint64_t replicates,
                 std::uint64_t key) {
  const Simulation simulation{.problem = c.problem,
                              .method = conceptual(c.lambda),
                              .stepsizes = {alpha},
                              .replicates = replicates,
                              .key = key,
                              .x0 = x};
  const std::uint64_t once[] = {1};
  return means_at(simulation, once, [&](ConstSpan y) { return squared_distance(y, c.target); })
      .front();
}

/// The lemma at x_0, for several stepsizes: sampled = exact <= bound.
void from_the_start(const Setup& setup, const Case& c, Findings& findings) {
  const Vector x0 = c.problem.start();
  const double d0 = squared_distance(x0, c.target);
  for (const double alpha : {0.05, 0.3, 1.0, 2.0}) {
    if (alpha * c.lambda > 1) continue;
    const double exact = one_step_distance(c.problem, x0, alpha, c.lambda, c.target);
    const double bound = one_step_bound(d0, alpha, c.lambda, setup.right(c.b_star, c.b_star / 2));
    const std::string where = fmt::format("{}, alpha {}", c.named.id, alpha);
    const Estimate seen = sampled(c, x0, alpha, setup.scaled(40000, 400000), key_of("T2/" + where));
    findings.at_most(fmt::format("{}: E|x_1 - x_*|^2 within the bound", where), seen, bound);
    findings.equal(fmt::format("{}: E|x_1 - x_*|^2 as computed", where), seen, exact);
    findings.at_most(fmt::format("{}: the exact value within the bound", where), {exact}, bound);
    if (c.named.id == "P0") {
      findings.equal(fmt::format("{}: the bound is attained", where), {exact}, bound);
    }
  }
}

/// Aiming and the bound at many points, near and far.
void from_everywhere(const Setup& setup, const Case& c, Findings& findings) {
  const std::size_t count = setup.scaled(300, 1000);
  double least_margin = 0;
  double most_over = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Noise noise(key_of("T2/points/" + c.named.id), i, 0);
    const double scale = std::pow(10, -3 + 5 * noise.uniform());
    Vector x = c.target;
    for (double& value : x) value += scale * noise.normal();
    const double d = squared_distance(x, c.target);
    const double margin = aiming_margin(c.problem, x, c.lambda, c.target);
    least_margin = std::min(least_margin, margin / std::sqrt(d));
    for (const double share : {0.1, 0.5, 1.0}) {
      const double alpha = share / c.lambda;
      const double bound = one_step_bound(d, alpha, c.lambda, c.b_star);
      const double exact = one_step_distance(c.problem, x, alpha, c.lambda, c.target);
      most_over = std::max(most_over, (exact - bound) / bound);
    }
  }
  findings.at_least(fmt::format("{}: least aiming margin over |e|, {} points", c.named.id, count),
                    {least_margin}, 0, 1e-9);
  findings.at_most(fmt::format("{}: most that a step is over its bound, relatively", c.named.id),
                   {most_over}, 0);
}

/// The bound is <= |e|^2 exactly up to this stepsize.
void contraction(const Case& c, Findings& findings) {
  const double d = squared_distance(c.problem.start(), c.target);
  const double most = 2 * c.lambda * d / (c.lambda * c.lambda * d + c.b_star);
  findings.equal(fmt::format("{}: the bound is |e|^2 at alpha = 2 lambda |e|^2 / (lambda^2 |e|^2 + "
                             "B_*)",
                             c.named.id),
                 {one_step_bound(d, most, c.lambda, c.b_star)}, d, 1e-12 * (1 + d));
}

void run(const Setup& setup, Findings& findings) {
  for (const NamedProblem& named : problems()) {
    const auto problem = named.make();
    const double lambda = problem->lambda();
    const auto target = problem->target(lambda);
    if (!target) continue;
    setup.stage(named.id);
    const Case c{named, *problem, lambda, *target, b_star(*problem, lambda, *target)};
    from_the_start(setup, c, findings);
    from_everywhere(setup, c, findings);
    contraction(c, findings);
  }
}

const RegisterClaim registered{
    {.id = "T2",
     .name = "Lemma 1",
     .title = "one step",
     .statement = "If the conceptual method aims and alpha lambda <= 1, then E|x_{t+1} - x_*|^2 <= "
                  "(1 - alpha lambda)^2 |x_t - x_*|^2 + alpha^2 B_*, B_* = n + lambda^2 |x_*|^2 + "
                  "2 lambda |x_*|_1; on pure noise with equality.",
     .errata =
         {"E17: a stepsize that shortens the distance exists only away from x_*, for alpha <= "
          "2 lambda |e|^2 / (lambda^2 |e|^2 + B_*).",
          "E18: slips in the proof; the lemma holds as stated, and at alpha lambda = 1 too."},
     .mutants = {"B_* half as large"},
     .run = run}};

}  // namespace
}  // namespace bcos::theory
