#include "lab/theory/one_step.hpp"

#include <algorithm>
#include <limits>

#include "engine/error.hpp"

namespace bcos::lab::theory {
namespace {

/// The g at which v is least: there a step may turn over suddenly.
double turn_of(const Method& method, double m) {
  const double beta = method.direction == Direction::momentum ? method.beta : 0;
  switch (method.estimator) {
    case Estimator::cond_full:
      return -beta * m;
    case Estimator::instant:
    case Estimator::ema_d:
      return -beta * m / (1 - beta);
    default:
      return 0;
  }
}

}  // namespace

Method bare(Method method) {
  method.decay = Decay::none;
  method.lambda = 0;
  method.eps_root = 0;
  // The smallest one changes no sum, and lets the engine accept an m that outlives v.
  method.eps = method.estimator == Estimator::ema_g ? std::numeric_limits<double>::min() : 0;
  return method;
}

Vector OneStep::repeated(ConstSpan values, std::size_t size, std::size_t samples) {
  if (values.size() != size) {
    throw fail("theory", "expected a state of {} numbers but received {}", size, values.size());
  }
  Vector all;
  all.reserve(size * samples);
  for (std::size_t i = 0; i < samples; ++i) all.insert(all.end(), values.begin(), values.end());
  return all;
}

TensorView OneStep::view(Vector& values) const {
  if (values.empty()) return {};
  return {values.data(), DType::f64, shape_, {}};
}

OneStep::OneStep(const Method& method, const States& states, std::size_t n, std::size_t samples,
                 std::size_t block_size)
    : method_(method),
      taken_(states.taken),
      shape_{static_cast<std::int64_t>(n * samples / block_size),
             static_cast<std::int64_t>(block_size)},
      x_(n * samples),
      g_(n * samples),
      d_(n * samples),
      v_(n * samples / block_size),
      step_(n * samples) {
  method_.blocks = Blocks::of(block_size == 1 ? Layout::coordinate : Layout::row);
  const StateKinds kinds = state_kinds(method_);
  if (kinds.u || method_.estimator == Estimator::oracle) {
    throw fail("theory", "expected a method whose states are m and v but received another one");
  }
  if (kinds.m) m_ = m_before_ = repeated(states.m, n, samples);
  if (kinds.v) v_state_ = v_before_ = repeated(states.v, n / block_size, samples);
  TensorView v_view;
  if (kinds.v) v_view = {v_state_.data(), DType::f64, {shape_.data(), 1}, {}};
  const Parameter parameter{view(x_), view(m_), v_view, {}};
  plan_.emplace(std::span(&method_, 1), std::span(&parameter, 1),
                PlanOptions{.executor = {.threads = 1}});
}

void OneStep::run(ConstSpan g) {
  std::ranges::copy(g, g_.begin());
  m_ = m_before_;
  v_state_ = v_before_;
  std::ranges::fill(x_, 0.0);
  const Gradient gradient{.data = g_.data(),
                          .tap = {.d = d_.data(), .v = v_.data(), .update = step_.data()}};
  const double alpha = 1;
  std::uint64_t taken = taken_;
  plan_->update({&gradient, 1}, {&alpha, 1}, {&taken, 1});
}

ExpectedStep expected_step(const Method& method, const States& states, const Law& law) {
  const double turn[] = {turn_of(method, states.m.empty() ? 0 : states.m.front())};
  const Quadrature rule = law.nodes(turn);
  OneStep step(method, states, 1, rule.nodes.size());
  step.run(rule.nodes);
  ExpectedStep expected;
  for (std::size_t i = 0; i < rule.nodes.size(); ++i) {
    const double y = step.step()[i];
    expected.mean += rule.weights[i] * y;
    expected.square += rule.weights[i] * y * y;
  }
  return expected;
}

}  // namespace bcos::lab::theory
