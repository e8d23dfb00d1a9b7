#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/theory/claim.hpp"
#include "lab/theory/sampled_moments.hpp"
#include "lab/theory/step_difference.hpp"

namespace bcos::lab::theory {
namespace {

enum Mutant { kOneEps = 1, kFirstOrder };

constexpr double kMostTau = 0.99;  ///< nearer to 1, 1 - tau has lost too many digits

/// The bound, over sqrt(rho).
double bound(const Setup& setup, double tau, double eps_over_second) {
  const double eps = setup.right(eps_over_second, eps_over_second / 2, kOneEps);
  return setup.right(bias_bound(tau, eps), tau / 2 + 2 * eps_over_second, kFirstOrder);
}

/// |phi - E d / sqrt(E v + eps)| over sqrt(rho).
double difference(double second, double mean, double eps) {
  return std::abs(1 - std::sqrt(second / (mean + eps)));
}

/// Random E d^2, tau, eps and E v within tau E d^2 + eps: none is beyond the bound, and at both
/// ends of what is allowed it is attained.
void everywhere(const Setup& setup, Findings& findings) {
  double beyond = -1;
  double lower_gap = 0;
  double upper_gap = 0;
  const std::uint64_t settings = setup.scaled(200'000, 2'000'000);
  for (std::uint64_t i = 0; i < settings; ++i) {
    Noise noise(key_of("T10"), i, 0);
    const double second = std::pow(10, -8 + 10 * noise.uniform());
    const double tau = kMostTau * noise.uniform();
    const double eps = i % 8 == 0 ? 0 : std::pow(10, -12 + 13 * noise.uniform());
    const double room = tau * second + eps;
    const double mean = std::max(0.0, second + (2 * noise.uniform() - 1) * room);
    const double most = bound(setup, tau, eps / second);
    beyond = std::max(beyond, difference(second, mean, eps) - most);
    if (second >= room) {
      const double attained = difference(second, second - room, eps);
      lower_gap = std::max(lower_gap, std::abs(attained - setup.right(1 / std::sqrt(1 - tau) - 1,
                                                                      tau / 2, kFirstOrder)));
      beyond = std::max(beyond, attained - most);
    }
    const double attained = difference(second, second + room, eps);
    const double upper = 1 - 1 / std::sqrt(1 + tau + setup.right(2.0, 1.0, kOneEps) * eps / second);
    upper_gap = std::max(upper_gap, std::abs(attained - upper));
    beyond = std::max(beyond, attained - most);
  }
  // E v - room loses digits where room is nearly E v.
  constexpr double kRounding = 1e-12;
  findings.at_most(fmt::format("most that {} settings are beyond the bound", settings), {beyond}, 0,
                   kRounding);
  findings.equal("E v = (1-tau) E d^2 - eps attains (1-tau)^(-1/2) - 1, while eps <= (1-tau) E d^2",
                 {lower_gap}, 0, kRounding);
  findings.equal("E v = (1+tau) E d^2 + eps attains the other one", {upper_gap}, 0, kRounding);
}

/// The estimators themselves, with the tau that they have at random states.
void of_estimators(const Setup& setup, Findings& findings) {
  for (const NamedEstimator& row : estimators(0.9)) {
    double used = 0;
    std::uint64_t skipped = 0;
    const std::uint64_t states = setup.scaled(20'000, 100'000);
    for (std::uint64_t i = 0; i < states; ++i) {
      Noise noise(key_of("T10/estimators"), i, 0);
      Method method = row.method;
      method.beta = 0.99 * noise.uniform();
      const Law law{Law::Kind::gaussian, noise.normal(), std::pow(10, -1 + 2 * noise.uniform())};
      const double m = noise.normal();
      const double v = noise.exponential();
      const double eps = std::pow(10, -6 + 6 * noise.uniform());
      const EstimatorMoments moments = moments_of(method, m, v, law.moments());
      const double second = moments.d.second();
      const double tau = std::max(0.0, std::abs(moments.bias) - eps) / second;
      if (tau > kMostTau) {
        ++skipped;
        continue;
      }
      const double most = std::abs(moments.phi()) * bound(setup, tau, eps / second);
      used = std::max(used, bias_part(moments, eps) / most);
    }
    findings.number(fmt::format("{}: share of states with tau >= 0.99, left out", row.id),
                    {static_cast<double>(skipped) / static_cast<double>(states)});
    if (skipped == states) continue;
    // A state whose v is too small by more than eps attains the bound; v = d^2 has no bias, and
    // its bound is used up only as eps grows.
    if (row.method.estimator == Estimator::instant) {
      findings.number(fmt::format("{}: most of the bound that a state uses", row.id), {used});
    } else {
      findings.equal(fmt::format("{}: most of the bound that a state uses", row.id), {used}, 1,
                     1e-9);
    }
  }
}

/// Both ends with an E v that is sampled through the engine: from a state whose v is too small,
/// with eps = 0, and from one whose v is too large by just eps.
void sampled(const Setup& setup, Findings& findings) {
  const Law law{Law::Kind::gaussian, 1, 1};
  for (const NamedEstimator& row : estimators(0.9)) {
    const bool small = row.id == "bcos_c" || row.id == "bcos_g";
    if (!small && row.id != "adam" && row.id != "bcos_m") continue;
    const double m = 0.5;
    const double v = small ? 0.5 : 3;
    const EstimatorMoments exact = moments_of(row.method, m, v, law.moments());
    const double second = exact.d.second();
    const double eps = small ? 0 : exact.bias;
    const double tau = small ? -exact.bias / second : 0;
    const numbers::Estimate bias =
        sampled_moments({&row.method, 1}, m, v, law, setup.scaled(200'000, 4'000'000),
                        key_of("T10/sampled/" + row.id))[0]
            .bias;
    const double mean = second + bias.value;
    const double slope = std::sqrt(second) / (2 * std::pow(mean + eps, 1.5));
    findings.equal(fmt::format("{}, v too {}: the step's relative difference, E v sampled", row.id,
                               small ? "small" : "large"),
                   {difference(second, mean, eps), slope * bias.se},
                   bound(setup, tau, eps / second));
  }
}

/// What the paper writes as O(eps) is eps |E d| / (E d^2)^{3/2}.
void small_eps(const Setup& setup, Findings& findings) {
  const auto per_eps = [](double second) {
    const double eps = 1e-7 * second;
    return difference(second, second + eps, eps) / eps;  // rho = 1
  };
  for (const double second : {1.0, 1e-4}) {
    findings.equal(
        fmt::format("tau = 0, E d^2 = {:g}: difference / (eps/E d^2) for small eps", second),
        {per_eps(second) * second}, setup.right(1.0, 0.5, kOneEps), 1e-6);
  }
  Findings::as_printed(
      findings.at_most("E6: one constant in O(eps) for all E d^2: at 1e-4 that of 1 suffices",
                       {per_eps(1e-4)}, per_eps(1)),
      false);
  // The assumption's eps is in the bias, the method's in the denominator.
  constexpr double kTau = 0.1;
  constexpr double kBias = 0.5;
  Findings::as_printed(
      findings.at_most("E6: the eps of the denominator may be smaller than that of the bias",
                       {difference(1, 1 - kTau - kBias, kBias / 10)}, bias_bound(kTau, kBias)),
      false);
}

void run(const Setup& setup, Findings& findings) {
  sampled(setup, findings);
  everywhere(setup, findings);
  of_estimators(setup, findings);
  small_eps(setup, findings);

  lab::plot::Figure figure{.title = "How far a bias moves the step",
                           .caption =
                               "The most that a relative bias tau changes |E d|/sqrt(E d^2), "
                               "relatively: an estimate that is too small costs far more than "
                               "one that is too large, and tau/2 is right for small tau alone.",
                           .x = {"tau"},
                           .y = {"relative difference of the step"},
                           .series = {}};
  lab::plot::Figure::Series low{"E v = (1-tau) E d^2", lab::plot::Figure::Mark::line, {}, {}};
  lab::plot::Figure::Series high{"E v = (1+tau) E d^2", lab::plot::Figure::Mark::line, {}, {}};
  lab::plot::Figure::Series first{"tau/2", lab::plot::Figure::Mark::dashed, {}, {}};
  for (int i = 0; i <= 90; ++i) {
    const double tau = i / 100.0;
    for (auto* series : {&low, &high, &first}) series->x.push_back(tau);
    low.y.push_back(difference(1, 1 - tau, 0));
    high.y.push_back(difference(1, 1 + tau, 0));
    first.y.push_back(tau / 2);
  }
  figure.series = {low, high, first};
  findings.figure(std::move(figure));
}

const RegisterClaim registered{
    {.id = "T10",
     .name = "Lemma 9",
     .title = "bias part of the step difference",
     .statement = "If |E v - E d^2| <= tau E d^2 + eps with tau < 1, and the denominator has the "
                  "same eps, then E d/sqrt(E v + eps) differs from E d/sqrt(E d^2) by at most "
                  "sqrt(rho) max{(1-tau)^(-1/2) - 1, 1 - (1+tau+2 eps/E d^2)^(-1/2)}; this is "
                  "attained, the lower end while eps <= (1-tau) E d^2.",
     .errata = {"E6: true for a fixed E d^2 as eps -> 0; but the lemma's series needs tau + 2 "
                "eps/E d^2 < 1, and its O(eps) hides "
                "|E d|/(E d^2)^(3/2), which is not uniform as E d^2 falls; the eps of the "
                "denominator must be at least that of the bias."},
     .mutants = {"eps once instead of twice", "the first-order terms alone"},
     .run = run}};

}  // namespace
}  // namespace bcos::lab::theory
