#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/theory/noise.hpp"

namespace bcos::lab::theory {

using Vector = std::vector<double>;
using Span = std::span<double>;
using ConstSpan = std::span<const double>;

/// A problem: where d comes from, and what is known about it. One file under problems/ is enough
/// to add one; every claim that its knowledge suffices for then runs on it.
class Problem {
 public:
  virtual ~Problem() = default;

  virtual std::size_t size() const = 0;                 ///< n
  virtual std::size_t block_size() const { return 1; }  ///< blocks follow each other, all alike
  virtual Vector start() const = 0;                     ///< x_0
  virtual double lambda() const { return 0.5; }         ///< the decay to try it with, > 0

  /// d at x: one sample.
  virtual void sample(ConstSpan x, Noise& noise, Span d) const = 0;

  /// E d (n numbers) and E|d_k|^2 (one a block) at x. False: they are not known.
  virtual bool moments(ConstSpan /*x*/, Span /*mean*/, Span /*second*/) const { return false; }

  /// x_* such that <x - x_*, phi(x) + lambda x_*> >= 0 for all x, phi_k = E d_k / sqrt(E|d_k|^2).
  /// Nothing: it is not known, or there is none for this lambda.
  virtual std::optional<Vector> target(double /*lambda*/) const { return std::nullopt; }

  std::size_t blocks() const { return size() / block_size(); }
};

struct NamedProblem {
  std::string id;       ///< "P1"
  std::string summary;  ///< one line
  std::function<std::unique_ptr<Problem>()> make;
};

/// All problems that registered, by id.
std::span<const NamedProblem> problems();
/// Throws Error naming the nearest id.
const NamedProblem& problem_by_id(const std::string& id);

/// const RegisterProblem registered{{"P6", "...", [] { return std::make_unique<Quantile>(); }}};
struct RegisterProblem {
  explicit RegisterProblem(NamedProblem problem);
};

/// The moments of a problem that must know them. Throws Error if it does not.
void known_moments(const Problem& problem, ConstSpan x, Span mean, Span second);

/// phi(x), the normalised expected direction. The moments must be known.
Vector phi_of(const Problem& problem, ConstSpan x);
/// The same of momentum, d = beta m + (1-beta) g, when m is given.
Vector phi_of(const Problem& problem, ConstSpan x, ConstSpan m, double beta);

/// E g and E|g_k|^2 become E d and E|d_k|^2 of momentum, d = beta m + (1-beta) g.
void to_momentum(ConstSpan m, double beta, Span mean, Span second);

double dot(ConstSpan a, ConstSpan b);
double squared_norm(ConstSpan a);
double squared_distance(ConstSpan a, ConstSpan b);
Vector minus(ConstSpan a, ConstSpan b);
/// The sum of the norms of the blocks: |a|_1 for single coordinates.
double sum_of_norms(ConstSpan a, std::size_t block_size);

}  // namespace bcos::lab::theory
