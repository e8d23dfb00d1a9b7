#include "bcos/method.hpp"

#include <cmath>

#include "bcos/methods.hpp"
#include "bcos/text.hpp"
#include "engine/error.hpp"
#include "engine/method/blocks.hpp"
#include "engine/method/estimators.hpp"
#include "engine/method/numbers.hpp"
#include "engine/method/options.hpp"

namespace bcos {
namespace {

constexpr std::string_view kValidate = "validate";

// Written so that NaN fails each of them.
void check_fraction(std::string_view field, double value) {
  if (!(value >= 0 && value < 1)) {
    throw fail(kValidate, "expected {} in [0, 1) but received {}", field, value);
  }
}

void check_not_negative(std::string_view field, double value) {
  if (!(value >= 0 && std::isfinite(value))) {
    throw fail(kValidate, "expected {} finite and >= 0 but received {}", field, value);
  }
}

void check_enumerators(const Method& method) {
  // name() throws for a number that is no enumerator, as one cast from an integer may be.
  name(method.direction);
  name(method.estimator);
  name(method.rule);
  name(method.decay);
  name(method.start);
  name(method.coupled_start);
  name(method.block_gain);
}

void check_numbers(const Method& method) {
  check_fraction("beta", method.beta);
  check_fraction("beta_v", method.beta_v);
  if (method.estimator == Estimator::cond_free && method.beta_v == 0) {
    throw fail(kValidate, "expected beta_v in (0, 1) for estimator cond_free but received 0");
  }
  check_not_negative("eps", method.eps);
  check_not_negative("eps_root", method.eps_root);
  check_not_negative("lambda", method.lambda);
  if (!(method.c > 0 && std::isfinite(method.c))) {
    throw fail(kValidate, "expected c finite and > 0 but received {}", method.c);
  }
}

void check_rule(const Method& method) {
  if (method.rule == StepRule::sqrt) return;
  if (method.eps != 0) {
    throw fail(kValidate, "expected eps = 0 for rule {} but received {}; use eps_root",
               name(method.rule), method.eps);
  }
  if (method.rule != StepRule::two_est) return;
  if (method.estimator != Estimator::ema_d) {
    throw fail(kValidate, "expected estimator ema_d for rule two_est but received {}",
               name(method.estimator));
  }
  if (method.beta_v != method.beta) {
    throw fail(kValidate,
               "expected beta_v = beta = {} for rule two_est but received {}; u and v share one "
               "smoothing factor",
               method.beta, method.beta_v);
  }
}

void check_estimator(const Method& method) {
  if (row_of(method.estimator).needs_momentum() && method.direction != Direction::momentum) {
    throw fail(kValidate,
               "expected direction momentum for estimator {}, which reads m, but received {}",
               name(method.estimator), name(method.direction));
  }
  const bool bare = method.eps == 0 && method.eps_root == 0;
  const bool m_outlives_v = method.estimator == Estimator::ema_g &&
                            method.direction == Direction::momentum && method.beta > 0 &&
                            method.beta * method.beta >= method.beta_v;
  if (bare && m_outlives_v) {
    throw fail(
        kValidate,
        "expected beta_v > beta^2 = {} for estimator ema_g without a stabiliser but received "
        "{}; raise beta_v or set eps or eps_root above 0",
        method.beta * method.beta, method.beta_v);
  }
}

struct Given {
  std::string_view field;
  const std::optional<double>& value;
  bool used;
  std::string_view axis;  ///< the axis that decides
  std::string_view choice;
  std::string_view advice;
};

void check_used(std::string_view function, std::string_view method_name, const Method& method,
                const MethodOptions& options) {
  const NumbersUsed used = numbers_used(method);
  const std::string_view estimator = name(method.estimator);
  const Given all[] = {
      {"beta", options.beta, used.beta, "direction", name(method.direction), ""},
      {"beta_v", options.beta_v, used.beta_v, "estimator", estimator, ""},
      {"eps", options.eps, used.eps, "rule", name(method.rule), "; use eps_root"},
      {"eps_root", options.eps_root, used.eps_root, "rule", name(method.rule), ""},
      {"lambda", options.lambda, used.lambda, "decay", name(method.decay),
       "; set decay to coupled or decoupled"},
      {"c", options.c, used.c, "estimator", estimator, ""},
  };
  for (const Given& given : all) {
    if (given.value && !given.used) {
      throw fail(function,
                 "expected no {0} for {1}, whose {2} {3} does not read it, but received {4}{5}",
                 given.field, method_name.empty() ? "this method" : method_name, given.axis,
                 given.choice, *given.value, given.advice);
    }
  }
}

template <class T>
void replace(T& field, const std::optional<T>& given) {
  if (given) field = *given;
}

}  // namespace

void validate(const Method& method) {
  check_enumerators(method);
  check_blocks(kValidate, method.blocks);
  check_numbers(method);
  check_rule(method);
  check_estimator(method);
  if (method.init_on_first_nonzero && method.start != Start::first) {
    throw fail(kValidate, "expected start first for init_on_first_nonzero but received {}",
               name(method.start));
  }
}

bool same_but_numbers(const Method& a, const Method& b) { return with_numbers(a, b) == b; }

StateKinds state_kinds(const Method& method) {
  return {.m = method.direction == Direction::momentum,
          .v = row_of(method.estimator).a == Old::v,
          .u = method.rule == StepRule::two_est};
}

NumbersUsed numbers_used(const Method& method) {
  return {.beta = method.direction == Direction::momentum || method.rule == StepRule::two_est,
          .beta_v = row_of(method.estimator).reads_beta_v,
          .eps = method.rule == StepRule::sqrt,
          .eps_root = true,
          .lambda = method.decay != Decay::none,
          .c = method.estimator == Estimator::constant};
}

std::optional<double> amplification_bound(const Method& method) {
  const double beta = method.direction == Direction::momentum ? method.beta : 0.0;
  const double bound = row_of(method.estimator).bound(beta, method.beta_v);
  if (std::isinf(bound)) return std::nullopt;
  return bound;
}

Method resolve(std::string_view function, std::string_view method_name, Method method,
               const MethodOptions& options) {
  replace(method.decay, options.decay);
  replace(method.start, options.start);
  replace(method.coupled_start, options.coupled_start);
  replace(method.blocks, options.blocks);
  replace(method.block_gain, options.block_gain);
  replace(method.init_on_first_nonzero, options.init_on_first_nonzero);

  check_used(function, method_name, method, options);
  replace(method.beta, options.beta);
  replace(method.beta_v, options.beta_v);
  if (method.rule == StepRule::two_est && options.beta && !options.beta_v) {
    method.beta_v = method.beta;
  }
  if (options.eps || options.eps_root) {
    method.eps = options.eps.value_or(0.0);
    method.eps_root = options.eps_root.value_or(0.0);
  }
  replace(method.lambda, options.lambda);
  replace(method.c, options.c);
  validate(method);
  return method;
}

Method with(Method base, const MethodOptions& options) {
  const std::string called = name_of(base);
  return resolve("with", called, std::move(base), options);
}

}  // namespace bcos
