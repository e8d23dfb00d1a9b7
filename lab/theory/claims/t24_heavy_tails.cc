#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bcos/methods.hpp"
#include "lab/theory/claim.hpp"
#include "lab/theory/numerics.hpp"
#include "lab/theory/simulation.hpp"

namespace bcos::lab::theory {
namespace {

enum Mutant { kLightTails = 1, kSgd, kSigns };

constexpr double kLambda = 0.5;
constexpr double kTail = 1.5;

/// d = x - c + z, z symmetric with P(|z| > r) = (1 + r)^(-3/2): a mean, but no second moment. phi
/// is not defined.
class HeavyTails : public Problem {
 public:
  Vector c = {1, -0.5};

  std::size_t size() const override { return c.size(); }
  Vector start() const override { return {0.5, 0.5}; }
  void sample(ConstSpan x, Noise& noise, Span d) const override {
    for (std::size_t k = 0; k < d.size(); ++k) {
      const double sign = noise.uniform() < 0.5 ? -1 : 1;
      d[k] = x[k] - c[k] + sign * (std::pow(noise.uniform(), -1 / kTail) - 1);
    }
  }
};

Method decoupled(Method method) {
  method.decay = Decay::decoupled;
  method.lambda = kLambda;
  return method;
}

struct Runs {
  Vector end;      ///< mean of x over the second half, a row a replicate
  Vector largest;  ///< max |x_t|_inf, one a replicate
};

Runs run_all(const Setup& setup, const Method& method) {
  const HeavyTails problem;
  const Simulation simulation{.problem = problem,
                              .method = decoupled(method),
                              .stepsizes = {1, 0.75},
                              .steps = setup.scaled(4000, 40000),
                              .replicates = setup.scaled(512, 2048),
                              .key = key_of("T24")};
  const std::uint64_t half = simulation.steps / 2;
  const std::size_t n = problem.size();
  Runs runs{Vector(simulation.replicates * n, 0.0), Vector(simulation.replicates, 0.0)};
  simulate(simulation, [&](const Moment& now) {
    for (std::size_t i = 0; i < now.count; ++i) {
      const std::size_t r = now.first + i;
      for (std::size_t k = 0; k < n; ++k) {
        const double x = now.x(i)[k];
        runs.largest[r] = std::max(runs.largest[r], std::abs(x));
        if (now.t > half) runs.end[r * n + k] += x / static_cast<double>(simulation.steps - half);
      }
    }
  });
  return runs;
}

/// E sign(mean + z) in closed form.
double sign_of(const Setup& setup, double mean) {
  const double power = setup.right(kTail, 3.0, kLightTails);
  return std::copysign(1 - std::pow(1 + std::abs(mean), -power), mean);
}

void run(const Setup& setup, Findings& findings) {
  const HeavyTails problem;
  const Runs signs = run_all(setup, sign_sgd);
  for (std::size_t k = 0; k < problem.size(); ++k) {
    const auto pull = [&](double x) { return sign_of(setup, x - problem.c[k]) + kLambda * x; };
    numbers::Moments end(0);
    for (std::size_t i = k; i < signs.end.size(); i += problem.size()) end.add(signs.end[i]);
    // Averaging is good to alpha at half-time.
    findings.equal(
        fmt::format("signs, coordinate {}: end of the runs = zero of E sign + lambda x", k),
        end.mean(), increasing_root(pull, -2, 2), 2e-3);
  }
  lab::plot::Figure figure{.title = "Heavy tails: the largest |x_t| of each path",
                           .caption =
                               "Noise without a second moment. Methods with |d| <= C sqrt(v) stay "
                               "within C / lambda; SGD with the same stepsizes does not.",
                           .x = {"share of the paths"},
                           .y = {"max |x_t|", lab::plot::Figure::Scale::log},
                           .series = {}};
  for (const char* id : {"sign_sgd", "bcos_g", "bcos_c", "bcos_m", "adam@paper"}) {
    setup.stage(id);
    const Method method = method_by_name(id);
    const Runs runs = run_all(setup, setup.right(method, sgd, kSgd));
    const double most = *amplification_bound(method) / kLambda;
    const auto beyond = std::ranges::count_if(runs.largest, [&](double x) { return x > most; });
    findings.at_most(fmt::format("{}: share of paths that are ever beyond C / lambda", id),
                     numbers::share_of(static_cast<std::uint64_t>(beyond), runs.largest.size()), 0);
    findings.number(fmt::format("{}: largest |x_t| over C / lambda", id),
                    {std::ranges::max(runs.largest) / most});
    Vector sorted = runs.largest;
    std::ranges::sort(sorted);
    lab::plot::Figure::Series series{id, lab::plot::Figure::Mark::line, {}, sorted};
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      series.x.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(sorted.size()));
    }
    figure.series.push_back(std::move(series));
  }
  const double most = *amplification_bound(bcos_c) / kLambda;
  Runs runs = run_all(setup, setup.right(sgd, sign_sgd, kSigns));
  const auto beyond = std::ranges::count_if(runs.largest, [&](double x) { return x > most; });
  findings.at_least("SGD: share of paths that are ever beyond BCOS-c's C / lambda",
                    numbers::share_of(static_cast<std::uint64_t>(beyond), runs.largest.size()),
                    0.5);
  std::ranges::sort(runs.largest);
  lab::plot::Figure::Series series{"sgd", lab::plot::Figure::Mark::line, {}, runs.largest};
  for (std::size_t i = 0; i < runs.largest.size(); ++i) {
    series.x.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(runs.largest.size()));
  }
  figure.series.push_back(std::move(series));
  findings.figure(std::move(figure));
}

const RegisterClaim registered{
    {.id = "T24",
     .name = "beyond the paper",
     .title = "heavy tails",
     .statement =
         "Where E d^2 is infinite phi is not defined and the theorems say nothing. Methods "
         "with |d| <= C sqrt(v) still keep every coordinate within C / lambda, whatever "
         "the noise; SGD with the same stepsizes does not. Signs end at the zero of E "
         "sign(d) + lambda x.",
     .mutants = {"tails of order 3 for 1.5", "SGD in the place of the bounded methods",
                 "signs in the place of SGD"},
     .run = run}};

}  // namespace
}  // namespace bcos::lab::theory
