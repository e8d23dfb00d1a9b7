#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/theory/aimed.hpp"
#include "lab/theory/claim.hpp"
#include "lab/theory/formulas.hpp"
#include "lab/theory/simulation.hpp"

namespace bcos::lab::theory {
namespace {

/// |e|^2 - factor alpha <e, phi> + alpha^2 m.
double next_distance(const Setup& setup, const Aimed& c, ConstSpan x, double alpha, double factor) {
  const double moving = moving_blocks(*c.problem, x);
  return squared_distance(x, c.target) -
         factor * alpha * aiming_margin(*c.problem, x, 0, c.target) +
         alpha * alpha * setup.right(moving, moving / 2, 2);
}

/// The same from the moments of d alone: the sum over blocks of |e_k|^2 - 2 gamma_k <e_k, E d_k> +
/// gamma_k^2 E|d_k|^2.
double from_moments(const Aimed& c, ConstSpan x, double alpha) {
  const std::size_t size = c.problem->block_size();
  Vector mean(c.problem->size());
  Vector second(c.problem->blocks());
  c.problem->moments(x, mean, second);
  const Vector e = minus(x, c.target);
  double sum = squared_norm(e);
  for (std::size_t k = 0; k < second.size(); ++k) {
    if (second[k] == 0) continue;
    const double gamma = alpha / std::sqrt(second[k]);
    const double aim =
        dot(ConstSpan(e).subspan(k * size, size), ConstSpan(mean).subspan(k * size, size));
    sum += -2 * gamma * aim + gamma * gamma * second[k];
  }
  return sum;
}

numbers::Estimate sampled(const Aimed& c, double alpha, std::uint64_t replicates,
                          std::uint64_t key) {
  const Simulation simulation{.problem = *c.problem,
                              .method = conceptual(0),
                              .stepsizes = {alpha},
                              .replicates = replicates,
                              .key = key};
  const std::uint64_t once[] = {1};
  return means_at(simulation, once, [&](ConstSpan y) { return squared_distance(y, c.target); })
      .front();
}

/// One step from x_0, for several stepsizes, through the engine.
void from_the_start(const Setup& setup, const Aimed& c, Findings& findings) {
  const Vector x0 = c.problem->start();
  for (const double alpha : {1.0, 0.1, 3.0}) {
    const std::string where = fmt::format("{}, alpha {}", c.id, alpha);
    const numbers::Estimate seen =
        sampled(c, alpha, setup.scaled(40000, 400000), key_of("T3/" + where));
    findings.equal(fmt::format("{}: E|x_1-x_*|^2 = |e|^2 - 2 alpha<e,phi> + alpha^2 m", where),
                   seen, next_distance(setup, c, x0, alpha, setup.right(2.0, 1.0)));
    Findings::as_printed(
        findings.at_most(
            fmt::format("{}: E|x_1 - x_*|^2 within the bound with alpha <e,phi>", where), seen,
            next_distance(setup, c, x0, alpha, 1)),
        true);
  }
}

/// The formula against the moments, at points near and far.
void from_everywhere(const Setup& setup, const Aimed& c, Findings& findings) {
  const std::size_t count = setup.scaled(300, 1000);
  double worst = 0;
  double slackest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Noise noise(key_of("T3/points/" + c.id), i, 0);
    const double scale = std::pow(10, -3 + 5 * noise.uniform());
    Vector x = c.target;
    for (double& value : x) value += scale * noise.normal();
    const double alpha = std::pow(10, -2 + 3 * noise.uniform());
    const double exact = from_moments(c, x, alpha);
    const double formula = next_distance(setup, c, x, alpha, setup.right(2.0, 1.0));
    // Relative to the terms, not to their sum, which may nearly cancel.
    const double terms = squared_distance(x, c.target) + alpha * alpha * c.blocks();
    worst = std::max(worst, std::abs(exact - formula) / terms);
    slackest = std::max(slackest, (next_distance(setup, c, x, alpha, 1) - exact) / terms);
  }
  findings.equal(fmt::format("{}: the formula at {} points, worst relative error", c.id, count),
                 {worst}, 0);
  findings.number(fmt::format("{} printed bound above the exact value, relatively", c.id),
                  {slackest});
}

void run(const Setup& setup, Findings& findings) {
  std::vector<Aimed> cases = aimed_without_decay();
  // Pure noise has no signal that a factor could be wrong about: it tells least.
  const auto noise = std::ranges::find(cases, "P0", &Aimed::id);
  if (noise != cases.end()) std::rotate(noise, noise + 1, cases.end());
  for (const Aimed& c : cases) {
    setup.stage(c.id);
    from_the_start(setup, c, findings);
    from_everywhere(setup, c, findings);
  }
}

const RegisterClaim registered{
    {.id = "T3",
     .name = "Section 5.2.3",
     .title = "one step, lambda = 0",
     .statement = "Without decay E|x_{t+1} - x_*|^2 = |e|^2 - 2 alpha <e, phi> + alpha^2 n, with "
                  "the number of blocks with E|d_k|^2 > 0 in the place of n for blocks. It is an "
                  "equality.",
     .errata = {"E1: the paper has - alpha <e, phi> and an inequality. That is true wherever "
                "<e, phi> >= 0, but gives away half of the decrease."},
     .mutants = {"alpha <e, phi> once instead of twice", "half of alpha^2 n"},
     .run = run}};

}  // namespace
}  // namespace bcos::lab::theory
