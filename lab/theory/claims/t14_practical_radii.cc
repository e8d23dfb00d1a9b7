#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bcos/methods.hpp"
#include "lab/theory/claims/t14_practical.hpp"
#include "lab/theory/limits.hpp"
#include "lab/theory/numerics.hpp"
#include "lab/theory/one_step.hpp"
#include "lab/theory/problems/noise_alone.hpp"

namespace bcos::lab::theory::t14 {
namespace {

/// The largest |err_k| of each coordinate where the runs ended: exactly, for whom that is known.
std::optional<Vector> essential_suprema(const Points& points, const Contender& c) {
  const Quadratic& problem = points.problem;
  Vector largest;
  for (std::size_t k = 0; k < problem.size(); ++k) {
    const double mean = problem.a[k] * (c.end[k].value - problem.c[k]);
    const auto found = largest_step_difference(c.method, mean, problem.s[k]);
    if (!found) return std::nullopt;
    largest.push_back(*found);
  }
  return largest;
}

/// err_t of the first state, sampled through the engine and by quadrature.
void check_sampling(const Setup& setup, const Points& points, const Contender& c,
                    Findings& findings) {
  const Quadratic& problem = points.problem;
  const Tail::State& state = c.tail.states.front();
  const auto sampled = step_difference_at(problem, c.method, state, setup.scaled(100000, 400000),
                                          key_of("T14/state/" + c.name));
  for (std::size_t k = 0; k < problem.size(); ++k) {
    const double mean = problem.a[k] * (state.x[k] - problem.c[k]);
    const double m = setup.right(state.states.m[k], mean, kMomentumInOneStep);
    const double exact = conditional_step(c.method, mean, problem.s[k], m) -
                         momentum_phi(mean, problem.s[k], m, kBeta);
    // The quadrature is for eps = 0.
    findings.equal(fmt::format("{}: err_t at a state, coordinate {}", c.name, k), sampled[k], exact,
                   1e-6);
  }
}

struct Row {
  std::string name;
  Radii radii;
  double seen;
  double mean;
};

Row record_one(const Setup& setup, const Points& points, const Contender& c, Findings& findings) {
  const Quadratic& problem = points.problem;
  const StepDifference sampled = step_difference(
      problem, c.method, c.tail, setup.scaled(4096, 32768), key_of("T14/fresh/" + c.name));
  double largest = sampled.largest;
  double norm = sampled.largest_norm;
  if (const auto exact = essential_suprema(points, c)) {
    largest = std::ranges::max(*exact);
    norm = std::sqrt(squared_norm(*exact));
  }
  const Radii radii = radii_of(largest, norm, problem, c.method, kLambda, c.aim);
  const Vector zero(problem.size());
  const numbers::Estimate mean = distance(mean_of_rows(c.tail.differences, problem.size()), zero);
  findings.number(c.name + ": |x_t - target|, root mean square", rms_distance(c.tail, c.aim));
  findings.number(c.name + ": the paper's radius", {radii.paper});
  findings.number(c.name + ": the sharper radius", {radii.sharper});
  findings.number(c.name + ": the trivial radius", {radii.trivial.value_or(INFINITY)});
  findings.number(c.name + ": time average of |err| / lambda",
                  {sampled.mean_norm.value / kLambda, sampled.mean_norm.se / kLambda});
  findings.number(c.name + ": |mean err| / lambda", {mean.value / kLambda, mean.se / kLambda});
  return {c.name, radii, distance(c.end, c.aim).value, mean.value / kLambda};
}

void draw(const std::vector<Row>& rows, Findings& findings) {
  lab::plot::Figure figure{.title = "The radius of the practical theorem",
                           .caption = "",
                           .x = {"method"},
                           .y = {"distance", lab::plot::Figure::Scale::log},
                           .series = {}};
  using Mark = lab::plot::Figure::Mark;
  figure.series = {{.label = "trivial", .mark = Mark::points, .x = {}, .y = {}},
                   {.label = "the paper's radius", .mark = Mark::points, .x = {}, .y = {}},
                   {.label = "limsup |err| / lambda", .mark = Mark::points, .x = {}, .y = {}},
                   {.label = "|mean err| / lambda", .mark = Mark::points, .x = {}, .y = {}},
                   {.label = "seen", .mark = Mark::points, .x = {}, .y = {}}};
  std::string order;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    order += fmt::format("{}{} {}", i == 0 ? "" : ", ", i + 1, row.name);
    const double heights[] = {*row.radii.trivial, row.radii.paper, row.radii.sharper, row.mean,
                              row.seen};
    for (std::size_t j = 0; j < figure.series.size(); ++j) {
      figure.series[j].x.push_back(static_cast<double>(i + 1));
      figure.series[j].y.push_back(heights[j]);
    }
  }
  figure.caption =
      "Distance of the end of the runs from the method's own target, and what bounds it for "
      "methods without momentum; for the others these numbers are observed and not implied. The "
      "mean of err_t tells far more than its supremum. Methods: " +
      order + ".";
  findings.figure(std::move(figure));
}

/// A method on skewed noise, where phi = 0 and x_* = 0: where its runs end, and the largest |x_t|
/// of the second half of each.
struct Wandered {
  std::vector<numbers::Estimate> end;
  numbers::Estimate most;
  double fluctuation = 0;  ///< of x_t about its mean, in any direction
};

Wandered wander(const Setup& setup, const NoiseAlone& problem, const Method& method,
                const std::string& name) {
  const Simulation simulation{.problem = problem,
                              .method = method,
                              .stepsizes = {1, 0.75},
                              .steps = setup.scaled(10000, 100000),
                              .replicates = setup.scaled(256, 400),
                              .key = key_of("T14/attained/" + name)};
  const std::size_t n = problem.size();
  const std::uint64_t half = simulation.steps / 2;
  Vector sums(simulation.replicates * n, 0.0);
  Vector most(simulation.replicates, 0.0);
  simulate(simulation, [&](const Moment& now) {
    if (now.t <= half) return;
    for (std::size_t i = 0; i < now.count; ++i) {
      const std::size_t r = now.first + i;
      most[r] = std::max(most[r], std::sqrt(squared_norm(now.x(i))));
      for (std::size_t k = 0; k < n; ++k) {
        sums[r * n + k] += now.x(i)[k] / static_cast<double>(simulation.steps - half);
      }
    }
  });
  return {mean_of_rows(sums, n), numbers::mean_of(most),
          std::sqrt(simulation.stepsizes.at(half) / (2 * kLambda))};
}

}  // namespace

void check_attained(const Setup& setup, Findings& findings) {
  const Vector zero(4, 0.0);
  lab::plot::Figure figure{
      .title = "The attained radius",
      .caption =
          "Signs on skewed noise end at |err| / lambda from x_* (line), for "
          "every eps in d / sqrt(d^2 + eps); the paper's radius is twice as "
          "far. A larger eps makes the neighbourhood smaller here, where "
          "phi = 0.",
      .x = {"eps", lab::plot::Figure::Scale::log},
      .y = {"distance from x_*"},
      .series = {{"|err| / lambda", lab::plot::Figure::Mark::line, {}, {}},
                 {"the paper's radius", lab::plot::Figure::Mark::dashed, {}, {}},
                 {"where the runs end", lab::plot::Figure::Mark::points, {}, {}}}};
  for (const std::size_t block : {std::size_t{1}, std::size_t{2}}) {
    const NoiseAlone problem = skewed_noise(4, block);
    const std::string name = block == 1 ? "signs, skewed noise" : "signs in pairs, skewed noise";
    setup.stage(name);
    const Wandered seen = wander(setup, problem, decoupled(sign_sgd), name);
    const double err =
        std::abs(skewed_sign(block)) * std::sqrt(static_cast<double>(block));  // |err_k|
    const double blocks = setup.right(static_cast<double>(problem.blocks()), 1.0, kOneCoordinate);
    const Radii radii =
        radii_of(err, err * std::sqrt(blocks), problem, decoupled(sign_sgd), kLambda, zero);
    const double radius = setup.right(setup.right(radii.sharper, radii.sharper / 2, kHalfRadius),
                                      radii.paper, kPapersRadius);
    const numbers::Estimate end = distance(seen.end, zero);
    findings.equal(name + ": the runs end at |err| / lambda", end, radius);
    // The largest of 5000 fluctuations is less than five of them.
    findings.at_most(name + ": largest |x_t| of a path's second half", seen.most, radius,
                     5 * seen.fluctuation);
    findings.equal(name + ": the paper's radius over where the runs end",
                   {radii.paper / end.value, radii.paper / end.value * end.se / end.value},
                   setup.right(2.0, 1.0, kPapersRadius));
    Findings::as_printed(
        findings.at_most(name + ": the runs end within the paper's radius", end, radii.paper),
        true);
  }
  const NoiseAlone problem = skewed_noise(4);
  const auto radius_of = [&](double eps) {
    Method method = bare(sign_sgd);
    method.eps_root = eps;
    return 2 * std::abs(expected_step(method, {}, problem.law).mean) / kLambda;
  };
  for (double eps = 1e-3; eps < 200; eps *= 1.5) {
    for (std::size_t k = 0; k < 2; ++k) {
      figure.series[k].x.push_back(eps);
      figure.series[k].y.push_back(static_cast<double>(k + 1) * radius_of(eps));
    }
  }
  for (const double eps : {0.01, 1.0, 100.0}) {
    Method method = decoupled(sign_sgd);
    method.eps_root = eps;
    const std::string name = fmt::format("skewed noise, d / sqrt(d^2 + {})", eps);
    setup.stage(name);
    const numbers::Estimate end = distance(wander(setup, problem, method, name).end, zero);
    const double radius = radius_of(setup.right(eps, 0.0, kNoEps));
    findings.equal(name + ": the runs end at |err| / lambda", end,
                   setup.right(radius, radius / 2, kHalfRadius));
    figure.series[2].x.push_back(eps);
    figure.series[2].y.push_back(end.value);
  }
  findings.figure(std::move(figure));
}

namespace {

/// d = (x - c) + y - 1, y exponential: a signal and skewed noise.
class SkewedSlope : public Problem {
 public:
  double c = -1;

  Law law(double x) const { return {Law::Kind::exponential, x - c, 1}; }
  std::size_t size() const override { return 1; }
  Vector start() const override { return {1}; }
  void sample(ConstSpan x, Noise& noise, Span d) const override { d[0] = law(x[0]).sample(noise); }
  bool moments(ConstSpan x, Span mean, Span second) const override {
    mean[0] = x[0] - c;
    second[0] = law(x[0]).moments().second();
    return true;
  }
  std::optional<Vector> target(double lambda) const override {
    return Vector{increasing_root(
        [&](double x) { return (x - c) / std::hypot(x - c, 1) + lambda * x; }, -3, 3)};
  }
};

}  // namespace

void check_eps(const Setup& setup, Findings& findings) {
  const SkewedSlope problem;
  const double target = (*problem.target(kLambda))[0];
  const auto limit_of = [&](double eps) {
    Method method = bare(sign_sgd);
    method.eps_root = eps;
    const auto pull = [&](double x) {
      return expected_step(method, {}, problem.law(x)).mean + kLambda * x;
    };
    return increasing_root(pull, -3, 3);
  };
  const auto away = [&](double eps) { return std::abs(limit_of(eps) - target); };
  using Mark = lab::plot::Figure::Mark;
  lab::plot::Figure figure{
      .title = "What eps is good for",
      .caption =
          "Distance from x_* of the limit of d / sqrt(d^2 + eps), d = x - c "
          "and skewed noise. A larger eps makes v + eps steadier, and then "
          "more and more biased: in between is a best one.",
      .x = {"eps", lab::plot::Figure::Scale::log},
      .y = {"|x_inf - x_*|"},
      .series = {{"computed", Mark::line, {}, {}}, {"where the runs end", Mark::points, {}, {}}}};
  for (double eps = 1e-3; eps < 20; eps *= 2) {
    figure.series[0].x.push_back(eps);
    figure.series[0].y.push_back(away(eps));
  }
  for (const double eps : {0.3, 10.0}) {
    Method method = decoupled(sign_sgd);
    method.eps_root = eps;
    const Simulation simulation{.problem = problem,
                                .method = method,
                                .stepsizes = {1, 0.75},
                                .steps = setup.scaled(20000, 100000),
                                .replicates = setup.scaled(512, 1024),
                                .key = key_of("T14/eps")};
    const auto end = mean_of_rows(tail_of(simulation, 0).points, 1);
    const double used = setup.right(eps, 0.0, kNoEps);
    findings.equal(fmt::format("signal and skewed noise, eps = {}: end of the runs", eps),
                   end.front(), limit_of(used), simulation.stepsizes.at(simulation.steps / 2));
    figure.series[1].x.push_back(eps);
    figure.series[1].y.push_back(std::abs(end.front().value - target));
  }
  const double none = away(0);
  findings.at_most("the same: |x_inf - x_*| with eps = 0.3 over that without",
                   {away(setup.right(0.3, 0.0, kNoEps)) / none}, 0.9);
  findings.at_least("the same: |x_inf - x_*| with eps = 10 over that without",
                    {away(setup.right(10.0, 0.0, kNoEps)) / none}, 1.5);
  findings.figure(std::move(figure));
}

void record_radii(const Setup& setup, const Points& points, const std::vector<Contender>& all,
                  Findings& findings) {
  std::vector<Row> rows;
  for (const Contender& c : all) {
    if (c.method.estimator == Estimator::oracle) continue;
    setup.stage(c.name + ", radii");
    rows.push_back(record_one(setup, points, c, findings));
    if (c.name == "BCOS-c" || c.name == "BCOS-c simple") check_sampling(setup, points, c, findings);
  }
  draw(rows, findings);
}

void check_relative_form(const Setup& setup, Findings& findings) {
  // Momentum at this m expects a step of 0 from the next gradient, of mean 1.
  const double m = -(1 - kBeta) / kBeta;
  const double err = conditional_step(bcosw_c, 1, 1, m) - momentum_phi(1, 1, m, kBeta);
  Findings::as_printed(
      findings.equal("BCOS-c where E_t d = 0: err_t <= sigma |E_t d| = 0", {err}, 0), false);
  const Tail::State state{.x = {0}, .alpha = 1};
  const numbers::Estimate sign =
      step_difference_at(skewed_noise(1), sign_sgd, state, setup.scaled(20000, 400000),
                         key_of("T14/skewed"))
          .front();
  findings.equal("sign of skewed noise, E d = 0: err = 2/e - 1", sign,
                 setup.right(2 * std::exp(-1.0) - 1, 0.0, kSymmetric));
  Findings::as_printed(findings.equal("sign of skewed noise: err <= sigma |E d| = 0", sign, 0),
                       false);
}

}  // namespace bcos::lab::theory::t14
