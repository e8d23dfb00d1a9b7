#include "lab/theory/problem.hpp"

#include <algorithm>
#include <cmath>

#include "engine/error.hpp"
#include "engine/suggestion.hpp"

namespace bcos::lab::theory {
namespace {

std::vector<NamedProblem>& registry() {
  static std::vector<NamedProblem> problems;
  return problems;
}

}  // namespace

RegisterProblem::RegisterProblem(NamedProblem problem) {
  auto& all = registry();
  all.insert(std::ranges::upper_bound(all, problem.id, {}, &NamedProblem::id), std::move(problem));
}

std::span<const NamedProblem> problems() { return registry(); }

const NamedProblem& problem_by_id(const std::string& id) {
  std::vector<std::string_view> ids;
  for (const NamedProblem& problem : registry()) {
    if (problem.id == id) return problem;
    ids.push_back(problem.id);
  }
  throw fail("theory", "expected a problem but received '{}'{}", id, suggestion(id, ids));
}

void known_moments(const Problem& problem, ConstSpan x, Span mean, Span second) {
  if (problem.moments(x, mean, second)) return;
  throw fail("theory", "expected a problem with known moments but received one without");
}

Vector phi_of(const Problem& problem, ConstSpan x) { return phi_of(problem, x, {}, 0); }

Vector phi_of(const Problem& problem, ConstSpan x, ConstSpan m, double beta) {
  Vector phi(problem.size());
  Vector second(problem.blocks());
  known_moments(problem, x, phi, second);
  if (!m.empty()) to_momentum(m, beta, phi, second);
  for (std::size_t i = 0; i < phi.size(); ++i) {
    const double size = std::sqrt(second[i / problem.block_size()]);
    phi[i] = phi[i] == 0 ? 0 : phi[i] / size;
  }
  return phi;
}

void to_momentum(ConstSpan m, double beta, Span mean, Span second) {
  const std::size_t size = mean.size() / second.size();
  const double w = 1 - beta;
  for (std::size_t k = 0; k < second.size(); ++k) {
    const Span mean_k = mean.subspan(k * size, size);
    const ConstSpan m_k = m.subspan(k * size, size);
    double expected = w * w * (second[k] - squared_norm(mean_k));
    for (std::size_t j = 0; j < size; ++j) {
      mean_k[j] = beta * m_k[j] + w * mean_k[j];
      expected += mean_k[j] * mean_k[j];
    }
    second[k] = expected;
  }
}

double dot(ConstSpan a, ConstSpan b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double squared_norm(ConstSpan a) { return dot(a, a); }

double squared_distance(ConstSpan a, ConstSpan b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

Vector minus(ConstSpan a, ConstSpan b) {
  Vector difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return difference;
}

double sum_of_norms(ConstSpan a, std::size_t block_size) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); i += block_size) {
    sum += std::sqrt(squared_norm(a.subspan(i, block_size)));
  }
  return sum;
}

}  // namespace bcos::lab::theory
