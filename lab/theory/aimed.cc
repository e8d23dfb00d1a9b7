#include "lab/theory/aimed.hpp"

#include "engine/error.hpp"
#include "lab/theory/formulas.hpp"

namespace bcos::lab::theory {
namespace {

std::vector<Aimed> all_aimed(bool decay) {
  std::vector<Aimed> all;
  for (const NamedProblem& named : problems()) {
    auto problem = named.make();
    const double lambda = decay ? problem->lambda() : 0;
    if (auto one = aimed(named.id, std::move(problem), lambda)) all.push_back(std::move(*one));
  }
  return all;
}

}  // namespace

std::optional<Aimed> aimed(std::string id, std::unique_ptr<Problem> problem, double lambda) {
  const auto target = problem->target(lambda);
  Vector mean(problem->size());
  Vector second(problem->blocks());
  if (!target || !problem->moments(problem->start(), mean, second)) return std::nullopt;
  const double b = b_star(*problem, lambda, *target);
  const double d0 = squared_distance(problem->start(), *target);
  return Aimed{std::move(id), std::move(problem), lambda, *target, b, d0};
}

Aimed aimed(const std::string& id) {
  auto problem = problem_by_id(id).make();
  const double lambda = problem->lambda();
  auto one = aimed(id, std::move(problem), lambda);
  if (!one) {
    throw fail("theory", "expected a problem with known moments and target but received '{}'", id);
  }
  return std::move(*one);
}

std::vector<Aimed> aimed_problems() { return all_aimed(true); }
std::vector<Aimed> aimed_without_decay() { return all_aimed(false); }

}  // namespace bcos::lab::theory
