#include "lab/theory/radius.hpp"

#include <algorithm>
#include <cmath>

#include "engine/error.hpp"
#include "lab/theory/limits.hpp"

namespace bcos::lab::theory {
namespace {

/// Steps between two looks at a difference: longer than momentum remembers.
constexpr std::uint64_t kStride = 16;

/// The step of the conceptual method for which a practical one stands, from the same sample. Its
/// expectation is phi_t, so that the expected difference of the two steps is err_t; and it is
/// steadier than the practical step alone.
class ConceptualStep {
 public:
  ConceptualStep(const Problem& problem, const Method& method)
      : problem_(problem),
        method_(method),
        momentum_(stands_for_momentum(method)),
        mean_(problem.size()),
        second_(problem.blocks()) {}

  /// What is known before the step.
  void set(ConstSpan x, ConstSpan m) {
    known_moments(problem_, x, mean_, second_);
    if (momentum_) to_momentum(m, method_.beta, mean_, second_);
  }
  /// d is that of the practical method.
  double operator()(ConstSpan d, std::size_t i) const {
    const bool same_direction = momentum_ || method_.direction != Direction::momentum;
    const double numerator = same_direction ? d[i] : mean_[i];
    return numerator == 0 ? 0 : numerator / std::sqrt(second_[i / problem_.block_size()]);
  }

 private:
  const Problem& problem_;
  const Method& method_;
  bool momentum_;
  Vector mean_, second_;
};

/// Gathers a tail. Replicates write into places of their own.
class Gatherer {
 public:
  Gatherer(const Simulation& simulation, std::size_t states)
      : simulation_(simulation),
        problem_(simulation.problem),
        n_(problem_.size()),
        half_(simulation.steps / 2),
        before_x_(simulation.replicates * n_),
        before_m_(simulation.replicates * n_),
        looks_((simulation.steps - half_ + kStride - 1) / kStride) {
    tail_.points.resize(simulation.replicates * n_);
    tail_.squares.resize(simulation.replicates);
    tail_.differences.resize(simulation.replicates * n_);
    tail_.states.resize(std::min<std::size_t>(states, simulation.steps - half_));
    tail_.times = sparse_times(simulation.steps);
    snapshots_.assign(tail_.times.size(), Vector(simulation.replicates * n_));
  }

  void look(const Moment& now) {
    keep_snapshot(now);
    if (now.t > half_) {
      add_points(now);
      keep_states(now);
    }
    if (now.t < half_) return;
    const std::uint64_t age = (now.t - half_) % kStride;
    if (age == 0) std::ranges::copy(now.all_x, row(before_x_, now.first).begin());
    if (age == 0) std::ranges::copy(now.all_m, row(before_m_, now.first).begin());
    if (age == 1) add_differences(now);
  }

  Tail take() {
    for (const Vector& all : snapshots_) {
      Vector mean(n_);
      for (std::size_t i = 0; i < all.size(); ++i) {
        mean[i % n_] += all[i] / static_cast<double>(simulation_.replicates);
      }
      tail_.path.push_back(std::move(mean));
    }
    return std::move(tail_);
  }

 private:
  Span row(Vector& rows, std::size_t i) const { return Span(rows).subspan(i * n_); }

  void keep_snapshot(const Moment& now) {
    const auto found = std::ranges::lower_bound(tail_.times, now.t);
    if (found == tail_.times.end() || *found != now.t) return;
    Vector& all = snapshots_[static_cast<std::size_t>(found - tail_.times.begin())];
    std::ranges::copy(now.all_x, row(all, now.first).begin());
  }

  void add_points(const Moment& now) {
    const double part = 1 / static_cast<double>(simulation_.steps - half_);
    const Span sums = row(tail_.points, now.first);
    for (std::size_t i = 0; i < now.all_x.size(); ++i) sums[i] += part * now.all_x[i];
    for (std::size_t i = 0; i < now.count; ++i) {
      tail_.squares[now.first + i] += part * squared_norm(now.x(i));
    }
  }

  /// States spread over the replicates and over the second half.
  void keep_states(const Moment& now) {
    const std::size_t count = tail_.states.size();
    for (std::size_t j = 0; j < count; ++j) {
      const std::size_t replicate = j * simulation_.replicates / count;
      if (now.t != half_ + (j + 1) * (simulation_.steps - half_) / count) continue;
      if (replicate < now.first || replicate >= now.first + now.count) continue;
      const auto vector = [&](ConstSpan values) { return Vector(values.begin(), values.end()); };
      Tail::State& state = tail_.states[j];
      const std::size_t i = replicate - now.first;
      state.x = vector(now.x(i));
      const StateKinds kinds = state_kinds(simulation_.method);
      state.states = {kinds.m ? vector(now.m(i)) : Vector(), kinds.v ? vector(now.v(i)) : Vector(),
                      now.t};
      state.alpha = simulation_.stepsizes.at(now.t);
    }
  }

  void add_differences(const Moment& now) {
    const double alpha = simulation_.stepsizes.at(now.t - 1);
    const double part = 1 / static_cast<double>(looks_);
    ConceptualStep conceptual(problem_, simulation_.method);
    for (std::size_t i = 0; i < now.count; ++i) {
      const std::size_t replicate = now.first + i;
      conceptual.set(row(before_x_, replicate).first(n_), row(before_m_, replicate).first(n_));
      const Span sums = row(tail_.differences, replicate);
      for (std::size_t j = 0; j < n_; ++j) {
        sums[j] += part * (now.update(i)[j] / alpha - conceptual(now.d(i), j));
      }
    }
  }

  const Simulation& simulation_;
  const Problem& problem_;
  std::size_t n_;
  std::uint64_t half_;
  Vector before_x_, before_m_;
  std::uint64_t looks_;
  Tail tail_;
  std::vector<Vector> snapshots_;
};

}  // namespace

bool stands_for_momentum(const Method& method) {
  return method.direction == Direction::momentum && method.estimator != Estimator::ema_g &&
         method.estimator != Estimator::constant;
}

Tail tail_of(const Simulation& simulation, std::size_t states) {
  Gatherer gatherer(simulation, states);
  simulate(simulation, [&](const Moment& now) { gatherer.look(now); });
  return gatherer.take();
}

std::vector<numbers::Estimate> mean_of_rows(ConstSpan rows, std::size_t n) {
  std::vector<numbers::Estimate> means;
  for (std::size_t j = 0; j < n; ++j) {
    numbers::Moments moments(rows[j]);
    for (std::size_t i = j; i < rows.size(); i += n) moments.add(rows[i]);
    means.push_back(moments.mean());
  }
  return means;
}

std::vector<numbers::Estimate> computed_point(ConstSpan point) {
  std::vector<numbers::Estimate> estimates;
  for (const double x : point) estimates.push_back({x, 0});
  return estimates;
}

numbers::Estimate distance(const std::vector<numbers::Estimate>& a,
                           const std::vector<numbers::Estimate>& b) {
  double squares = 0;
  double variance = 0;
  for (std::size_t j = 0; j < a.size(); ++j) {
    squares += (a[j].value - b[j].value) * (a[j].value - b[j].value);
    variance += a[j].se * a[j].se + b[j].se * b[j].se;
  }
  return {std::sqrt(squares), std::sqrt(variance)};
}

numbers::Estimate distance(const std::vector<numbers::Estimate>& a, ConstSpan b) {
  return distance(a, computed_point(b));
}

numbers::Estimate rms_distance(const Tail& tail, ConstSpan point) {
  const std::size_t n = point.size();
  Vector squares = tail.squares;
  for (std::size_t i = 0; i < squares.size(); ++i) {
    squares[i] += squared_norm(point) - 2 * dot(ConstSpan(tail.points).subspan(i * n, n), point);
  }
  const numbers::Estimate mean = numbers::mean_of(squares);
  const double root = std::sqrt(std::max(mean.value, 1e-300));
  return {root, mean.se / (2 * root)};
}

std::vector<numbers::Estimate> step_difference_at(const Problem& problem, const Method& method,
                                                  const Tail::State& state, std::uint64_t samples,
                                                  std::uint64_t key) {
  const std::size_t n = problem.size();
  Vector differences(samples * n);
  ConceptualStep conceptual(problem, method);
  conceptual.set(state.x, state.states.m);
  const Simulation once{.problem = problem,
                        .method = method,
                        .stepsizes = {state.alpha},
                        .replicates = samples,
                        .key = key,
                        .x0 = state.x,
                        .states = state.states};
  simulate(once, [&](const Moment& now) {
    if (now.t == 0) return;
    for (std::size_t i = 0; i < now.count; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        differences[(now.first + i) * n + j] =
            now.update(i)[j] / state.alpha - conceptual(now.d(i), j);
      }
    }
  });
  return mean_of_rows(differences, n);
}

StepDifference step_difference(const Problem& problem, const Method& method, const Tail& tail,
                               std::uint64_t samples, std::uint64_t key) {
  StepDifference found;
  Vector norms;
  for (std::size_t j = 0; j < tail.states.size(); ++j) {
    const auto err = step_difference_at(problem, method, tail.states[j], samples, key + j);
    double norm2 = 0;
    for (std::size_t k = 0; k < problem.blocks(); ++k) {
      double squares = 0;
      for (std::size_t i = k * problem.block_size(); i < (k + 1) * problem.block_size(); ++i) {
        // The square of a sampled number is too large by its variance, on average.
        squares += err[i].value * err[i].value - err[i].se * err[i].se;
        found.sampling_error = std::max(found.sampling_error, err[i].se);
      }
      norm2 += squares;
      found.largest = std::max(found.largest, std::sqrt(std::max(0.0, squares)));
    }
    norms.push_back(std::sqrt(std::max(0.0, norm2)));
    found.largest_norm = std::max(found.largest_norm, norms.back());
  }
  found.mean_norm = numbers::mean_of(norms);
  return found;
}

Radii radii_of(double largest, double largest_norm, const Problem& problem, const Method& method,
               double lambda, ConstSpan target) {
  const double root = std::sqrt(static_cast<double>(problem.blocks()));
  Radii radii;
  radii.paper = 2 * root * largest / lambda;
  radii.sharper = largest_norm / lambda;
  if (const auto c = amplification_bound(method)) {
    radii.trivial = root * *c / lambda + std::sqrt(squared_norm(target));
  }
  return radii;
}

std::optional<std::vector<numbers::Estimate>> aim_of(const Simulation& simulation) {
  const double lambda = simulation.method.lambda;
  const Problem& problem = simulation.problem;
  auto target = problem.target(lambda);
  if (!target) return std::nullopt;
  if (stands_for_momentum(simulation.method)) {
    const Method concept_method = conceptual_momentum(lambda, simulation.method.beta);
    target = exact_limit(problem, concept_method, lambda);
    if (!target) {
      Simulation runs = simulation;
      runs.method = concept_method;
      return mean_of_rows(tail_of(runs, 0).points, problem.size());
    }
  }
  return computed_point(*target);
}

}  // namespace bcos::lab::theory
