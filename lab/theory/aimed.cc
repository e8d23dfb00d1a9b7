#include "lab/theory/aimed.hpp"

#include "engine/error.hpp"
#include "lab/theory/formulas.hpp"

namespace bcos::lab::theory {
namespace {

class Reversed : public Problem {
 public:
  explicit Reversed(std::unique_ptr<Problem> problem) : problem_(std::move(problem)) {}
  std::size_t size() const override { return problem_->size(); }
  std::size_t block_size() const override { return problem_->block_size(); }
  Vector start() const override { return problem_->start(); }
  double lambda() const override { return problem_->lambda(); }
  void sample(ConstSpan x, Noise& noise, Span d) const override {
    problem_->sample(x, noise, d);
    for (double& value : d) value = -value;
  }
  bool moments(ConstSpan x, Span mean, Span second) const override {
    if (!problem_->moments(x, mean, second)) return false;
    for (double& value : mean) value = -value;
    return true;
  }
  std::optional<Vector> target(double lambda) const override { return problem_->target(lambda); }

 private:
  std::unique_ptr<Problem> problem_;
};

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

Aimed reversed(Aimed aimed) {
  aimed.problem = std::make_unique<Reversed>(std::move(aimed.problem));
  return aimed;
}

std::vector<Aimed> aimed_problems() { return all_aimed(true); }
std::vector<Aimed> aimed_without_decay() { return all_aimed(false); }

}  // namespace bcos::lab::theory
