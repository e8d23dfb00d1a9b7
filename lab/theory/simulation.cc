#include "lab/theory/simulation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "bcos/update.hpp"
#include "engine/error.hpp"
#include "lab/theory/parallel.hpp"

namespace bcos::lab::theory {
namespace {

constexpr std::size_t kGroup = 64;

/// Some replicates in one tensor: coordinates one after another, or a row a block.
class Group {
 public:
  Group(const Simulation& simulation, std::size_t first, std::size_t count)
      : simulation_(simulation),
        problem_(simulation.problem),
        n_(problem_.size()),
        blocks_(problem_.blocks()),
        first_(first),
        count_(count),
        method_(simulation.method),
        shape_{static_cast<std::int64_t>(count * blocks_),
               static_cast<std::int64_t>(problem_.block_size())},
        x_(count * n_),
        g_(count * n_),
        d_(count * n_),
        update_(count * n_),
        v_(count * blocks_),
        mean_(n_) {
    method_.blocks = Blocks::of(problem_.block_size() == 1 ? Layout::coordinate : Layout::row);
    const StateKinds kinds = state_kinds(method_);
    if (kinds.m) m_.assign(count * n_, 0);
    if (kinds.v) v_state_.assign(count * blocks_, 0);
    if (kinds.u) u_.assign(count * n_, 0);
    if (method_.estimator == Estimator::oracle) oracle_.assign(count * blocks_, 0);
    const Vector start = simulation.x0.empty() ? problem_.start() : simulation.x0;
    for (std::size_t i = 0; i < count; ++i) {
      std::ranges::copy(start, at(x_, i).begin());
      if (!m_.empty()) std::ranges::copy(simulation.states.m, at(m_, i).begin());
      if (!v_state_.empty()) std::ranges::copy(simulation.states.v, at(v_state_, i).begin());
    }
  }

  void run(const Watch& watch) {
    const Parameter parameter{view(x_), view(m_), state_view(), view(u_)};
    Plan plan({&method_, 1}, {&parameter, 1}, {.executor = {.threads = 1}});
    const Gradient gradient{.data = g_.data(),
                            .oracle = oracle_.empty() ? nullptr : oracle_.data(),
                            .tap = {.d = d_.data(), .v = v_.data(), .update = update_.data()}};
    std::uint64_t taken = simulation_.states.taken;
    watch(moment(0));
    const Vector fixed = simulation_.frozen ? x_ : Vector();
    for (std::uint64_t t = 0; t < simulation_.steps; ++t) {
      sample(t);
      const double alpha = simulation_.stepsizes.at(t);
      plan.update({&gradient, 1}, {&alpha, 1}, {&taken, 1});
      if (simulation_.frozen) x_ = fixed;
      watch(moment(t + 1));
    }
  }

 private:
  Span at(Vector& values, std::size_t i) const {
    const std::size_t n = values.size() / count_;
    return Span(values).subspan(i * n, n);
  }

  TensorView view(Vector& values) {
    if (values.empty()) return {};
    return {values.data(), DType::f64, shape_, {}};
  }
  TensorView state_view() {
    if (v_state_.empty()) return {};
    return {v_state_.data(), DType::f64, {shape_.data(), 1}, {}};
  }

  void sample(std::uint64_t t) {
    for (std::size_t i = 0; i < count_; ++i) {
      Noise noise(simulation_.key, simulation_.first_replicate + first_ + i, t);
      problem_.sample(at(x_, i), noise, at(g_, i));
      if (!oracle_.empty()) look_up(i);
    }
  }

  /// E_t|d_k|^2: that of the sample, or of beta m + (1-beta) g.
  void look_up(std::size_t i) {
    const Span oracle = at(oracle_, i);
    known_moments(problem_, at(x_, i), mean_, oracle);
    if (!m_.empty()) to_momentum(at(m_, i), method_.beta, mean_, oracle);
    // Where E|d|^2 = 0 the direction is 0 too, and the engine asks for a positive number.
    for (double& second : oracle) second = std::max(second, std::numeric_limits<double>::min());
  }

  Moment moment(std::uint64_t t) const {
    Moment now{t, first_, count_, x_, {}, {}, {}, {}, m_};
    if (t == 0) return now;
    now.all_g = g_;
    now.all_d = d_;
    now.all_v = v_;
    now.all_update = update_;
    return now;
  }

  const Simulation& simulation_;
  const Problem& problem_;
  std::size_t n_;
  std::size_t blocks_;
  std::size_t first_;
  std::size_t count_;
  Method method_;
  std::array<std::int64_t, 2> shape_;
  Vector x_, g_, d_, update_, v_, mean_;
  Vector m_, v_state_, u_, oracle_;
};

}  // namespace

Method conceptual(double lambda) {
  return {.direction = Direction::gradient,
          .estimator = Estimator::oracle,
          .decay = lambda > 0 ? Decay::decoupled : Decay::none,
          .eps_root = 0,
          .lambda = lambda};
}

Method conceptual_momentum(double lambda, double beta) {
  Method method = conceptual(lambda);
  method.direction = Direction::momentum;
  method.beta = beta;
  return method;
}

double Stepsizes::at(std::uint64_t t) const {
  const double count = static_cast<double>(t + 1);
  if (p == 0) return alpha;
  return p == 1 ? alpha / count : alpha / std::pow(count, p);
}

void simulate(const Simulation& simulation, const Watch& watch) {
  const std::size_t groups = (simulation.replicates + kGroup - 1) / kGroup;
  parallel_for(groups, [&](std::size_t k) {
    const std::size_t first = k * kGroup;
    const std::size_t count = std::min<std::size_t>(kGroup, simulation.replicates - first);
    Group(simulation, first, count).run(watch);
  });
}

std::vector<numbers::Estimate> means_at(const Simulation& simulation,
                                        std::span<const std::uint64_t> times,
                                        const std::function<double(ConstSpan x)>& f) {
  std::vector<Vector> values(times.size(), Vector(simulation.replicates));
  simulate(simulation, [&](const Moment& now) {
    const auto found = std::ranges::lower_bound(times, now.t);
    if (found == times.end() || *found != now.t) return;
    Vector& row = values[static_cast<std::size_t>(found - times.begin())];
    for (std::size_t i = 0; i < now.count; ++i) row[now.first + i] = f(now.x(i));
  });
  std::vector<numbers::Estimate> means;
  means.reserve(times.size());
  for (const Vector& row : values) means.push_back(numbers::mean_of(row));
  return means;
}

Vector final_points(const Simulation& simulation) {
  const std::size_t n = simulation.problem.size();
  Vector points(simulation.replicates * n);
  simulate(simulation, [&](const Moment& now) {
    if (now.t != simulation.steps) return;
    std::ranges::copy(now.all_x, points.begin() + static_cast<std::ptrdiff_t>(now.first * n));
  });
  return points;
}

std::vector<std::uint64_t> sparse_times(std::uint64_t last) {
  std::vector<std::uint64_t> times = {0};
  for (std::uint64_t decade = 1; decade < last; decade *= 10) {
    for (const std::uint64_t digit : {1, 2, 5}) {
      if (digit * decade < last) times.push_back(digit * decade);
    }
  }
  times.push_back(last);
  return times;
}

}  // namespace bcos::lab::theory
