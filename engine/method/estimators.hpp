#pragma once

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>

#include "bcos/method.hpp"
#include "bcos/step_numbers.hpp"

/// The estimators as a table: v = p A + q B, where A is what is remembered and B is what is new.
/// Names, states, bounds, step numbers and kernels all follow from a row.
namespace bcos {

struct Weights {
  double p;
  double q;
};

/// B as |g_part g + m_part m|^2, with the momentum m before the step.
struct FreshParts {
  double g;
  double m;
};
constexpr FreshParts fresh_parts(New b, double beta) {
  switch (b) {
    case New::d_square:
      return {1 - beta, beta};
    case New::g_plus_beta_m_square:
      return {1, beta};
    case New::g_square:
    case New::one:
    case New::given:
      return {1, 0};
  }
  return {};
}

struct EstimatorRow {
  Estimator id;
  std::string_view name;
  Old a;
  New b;
  Weights (*weights)(double beta, double beta_v, double c);
  /// The bound on |d| / sqrt(v) for every gradient sequence; infinite where there is none.
  double (*bound)(double beta, double beta_v);
  bool reads_beta_v;

  /// Whether A or B is made of the momentum before the step: the method must keep one.
  constexpr bool needs_momentum() const {
    return a == Old::m_square || (b != New::d_square && fresh_parts(b, 0.5).m != 0);
  }
  /// Whether states that equal the gradient give v = |g|^2.
  constexpr bool repeats_equals() const {
    const double beta = 0.9;
    const auto [p, q] = weights(beta, 0.95, 1);
    const FreshParts fresh = fresh_parts(b, beta);
    const double off = p + q * (fresh.g + fresh.m) * (fresh.g + fresh.m) - 1;
    return off < 1e-12 && off > -1e-12;
  }
};

namespace estimators {

inline constexpr double kNoBound = std::numeric_limits<double>::infinity();

constexpr Weights fresh_alone(double, double, double) { return {0, 1}; }
constexpr Weights constant(double, double, double c) { return {0, c}; }
constexpr Weights averaged(double, double beta_v, double) { return {beta_v, 1 - beta_v}; }
constexpr Weights conditional(double beta, double, double) {
  return {beta * beta * (2 - beta * beta), (1 - beta) * (1 - beta)};
}
constexpr Weights simple(double beta, double, double) {
  return {beta * (2 - beta), (1 - beta) * (1 - beta)};
}

inline double unbounded(double, double) { return kNoBound; }
inline double bound_of_instant(double, double) { return 1; }
inline double bound_of_ema_d(double, double beta_v) { return 1 / std::sqrt(1 - beta_v); }
inline double bound_of_ema_g(double beta, double beta_v) {
  if (beta == 0) return bound_of_ema_d(beta, beta_v);
  if (beta * beta >= beta_v) return kNoBound;
  return (1 - beta) / std::sqrt((1 - beta_v) * (1 - beta * beta / beta_v));
}
inline double bound_of_full(double beta, double) { return std::sqrt(2 / (2 - beta * beta)); }
inline double bound_of_simple(double beta, double) { return std::sqrt(2 / (2 - beta)); }
inline double bound_of_free(double beta, double beta_v) {
  return std::sqrt(beta * beta / beta_v + (1 - beta) * (1 - beta) / (1 - beta_v));
}

}  // namespace estimators

// clang-format off
inline constexpr EstimatorRow kEstimators[] = {
    {Estimator::instant, "instant", Old::nothing, New::d_square, estimators::fresh_alone, estimators::bound_of_instant, false},
    {Estimator::constant, "constant", Old::nothing, New::one, estimators::constant, estimators::unbounded, false},
    {Estimator::ema_d, "ema_d", Old::v, New::d_square, estimators::averaged, estimators::bound_of_ema_d, true},
    {Estimator::ema_g, "ema_g", Old::v, New::g_square, estimators::averaged, estimators::bound_of_ema_g, true},
    {Estimator::cond_full, "cond_full", Old::m_square, New::g_plus_beta_m_square, estimators::conditional, estimators::bound_of_full, false},
    {Estimator::cond_simple, "cond_simple", Old::m_square, New::g_square, estimators::simple, estimators::bound_of_simple, false},
    {Estimator::cond_free, "cond_free", Old::m_square, New::g_square, estimators::averaged, estimators::bound_of_free, true},
    {Estimator::oracle, "oracle", Old::nothing, New::given, estimators::fresh_alone, estimators::unbounded, false},
};
// clang-format on

constexpr const EstimatorRow& row_of(Estimator estimator) {
  return kEstimators[static_cast<std::size_t>(estimator)];
}

static_assert(std::size(kEstimators) == static_cast<std::size_t>(Estimator::oracle) + 1,
              "kEstimators has one row for every enumerator of Estimator, and oracle is the last");
static_assert(
    [] {
      for (std::size_t i = 0; i < std::size(kEstimators); ++i) {
        if (kEstimators[i].id != static_cast<Estimator>(i)) return false;
      }
      return true;
    }(),
    "the rows of kEstimators stand in the order of the enumerators");
static_assert(
    [] {
      for (const EstimatorRow& row : kEstimators) {
        const Weights usual = row.weights(0.9, 0.95, 1);
        if ((row.a == Old::nothing) != (usual.p == 0) || !(usual.q > 0)) return false;
      }
      return true;
    }(),
    "the weight of A is 0 where A is nothing, and only there; the weight of B is above 0");
static_assert(
    [] {
      for (const EstimatorRow& row : kEstimators) {
        const Weights forgetting = row.weights(0, 0, 1);
        if (forgetting.p != 0 || forgetting.q != 1) return false;
      }
      return true;
    }(),
    "at beta = beta_v = 0 nothing is remembered: v = B");

}  // namespace bcos
