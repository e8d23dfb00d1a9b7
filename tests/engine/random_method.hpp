#pragma once

#include <rapidcheck.h>

#include <cmath>
#include <ostream>

#include "bcos/method.hpp"
#include "bcos/text.hpp"
#include "engine/method/estimators.hpp"

namespace bcos {

/// Lets RapidCheck print a counterexample.
inline void showValue(const Method& method, std::ostream& out) { out << to_json(method); }
inline void showValue(const Schedule& schedule, std::ostream& out) { out << to_json(schedule); }

}  // namespace bcos

namespace bcos::testing {

/// In [0, 1), with all 53 bits.
inline rc::Gen<double> random_fraction() {
  return rc::gen::map(rc::gen::arbitrary<std::uint64_t>(),
                      [](std::uint64_t bits) { return std::ldexp(double(bits >> 11), -53); });
}

/// A smoothing factor: often one that people use, else any.
inline rc::Gen<double> random_beta() {
  return rc::gen::weightedOneOf<double>(
      {{2, rc::gen::element(0.0, 0.5, 0.9, 0.95, 0.99, 0.999)}, {1, random_fraction()}});
}

/// 0 or a number between 1e-12 and 1.
inline rc::Gen<double> random_small() {
  return rc::gen::weightedOneOf<double>(
      {{1, rc::gen::just(0.0)},
       {2, rc::gen::map(random_fraction(), [](double x) { return std::pow(10.0, -12.0 * x); })}});
}

/// Each equally often: left to itself, inRange draws the last ones in the last tests alone.
template <class E>
rc::Gen<E> random_enumerator(E last) {
  const auto any =
      rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, static_cast<int>(last) + 1));
  return rc::gen::map(any, [](int value) { return static_cast<E>(value); });
}

/// Makes the choices of a method agree with each other, changing as little as needed.
inline Method reconciled(Method method) {
  if (method.rule == StepRule::two_est) {
    method.estimator = Estimator::ema_d;
    method.beta_v = method.beta;
  }
  if (method.rule != StepRule::sqrt) method.eps = 0;
  if (row_of(method.estimator).needs_momentum()) method.direction = Direction::momentum;
  if (method.estimator == Estimator::cond_free && method.beta_v == 0) method.beta_v = 0.95;
  const bool m_outlives_v = method.estimator == Estimator::ema_g &&
                            method.direction == Direction::momentum &&
                            method.beta * method.beta >= method.beta_v;
  if (m_outlives_v && method.eps == 0 && method.eps_root == 0) method.eps_root = 1e-12;
  if (method.start != Start::first) method.init_on_first_nonzero = false;
  return method;
}

/// Any method that validate() accepts, on the layouts that fit every shape. Those with direction
/// `user` or estimator `oracle` are among them.
inline rc::Gen<Method> random_method() {
  return rc::gen::map(
      rc::gen::build<Method>(
          rc::gen::set(&Method::direction, random_enumerator(Direction::user)),
          rc::gen::set(&Method::estimator, random_enumerator(Estimator::oracle)),
          rc::gen::set(&Method::rule,
                       rc::gen::weightedElement<StepRule>(
                           {{4, StepRule::sqrt}, {1, StepRule::two_est}, {1, StepRule::inv}})),
          rc::gen::set(&Method::decay, random_enumerator(Decay::decoupled)),
          rc::gen::set(&Method::start, random_enumerator(Start::zero_corrected)),
          rc::gen::set(&Method::coupled_start, random_enumerator(CoupledStart::raw)),
          rc::gen::set(&Method::blocks,
                       rc::gen::map(random_enumerator(Layout::column), &Blocks::of)),
          rc::gen::set(&Method::block_gain, random_enumerator(BlockGain::sqrt)),
          rc::gen::set(&Method::beta, random_beta()), rc::gen::set(&Method::beta_v, random_beta()),
          rc::gen::set(&Method::eps, random_small()),
          rc::gen::set(&Method::eps_root, random_small()),
          rc::gen::set(&Method::lambda, random_small()),
          rc::gen::set(&Method::c, rc::gen::map(random_fraction(), [](double x) { return 1 - x; })),
          rc::gen::set(&Method::init_on_first_nonzero, rc::gen::arbitrary<bool>())),
      &reconciled);
}

}  // namespace bcos::testing
