#pragma once

#include <span>
#include <string>
#include <string_view>

#include "bcos/method.hpp"

/// The named methods: the one table of ids and numbers behind every surface.
namespace bcos {

inline const Method sgd{.direction = Direction::gradient,
                        .estimator = Estimator::constant,
                        .decay = Decay::coupled,
                        .eps_root = 0};
inline const Method sgd_momentum{.estimator = Estimator::constant,
                                 .decay = Decay::coupled,
                                 .start = Start::zero_corrected,
                                 .eps_root = 0};
inline const Method sign_sgd{.direction = Direction::gradient,
                             .estimator = Estimator::instant,
                             .decay = Decay::coupled,
                             .eps_root = 0};
inline const Method sign_momentum{
    .estimator = Estimator::instant, .decay = Decay::coupled, .eps_root = 0};

inline const Method bcos_g{.direction = Direction::gradient,
                           .estimator = Estimator::ema_d,
                           .decay = Decay::coupled,
                           .start = Start::zero_corrected};
inline const Method bcos_m{
    .estimator = Estimator::ema_d, .decay = Decay::coupled, .start = Start::zero_corrected};
inline const Method bcos_c{.estimator = Estimator::cond_full, .decay = Decay::coupled};
inline const Method bcos_c_simple{.estimator = Estimator::cond_simple, .decay = Decay::coupled};

inline const Method bcosw_g{.direction = Direction::gradient,
                            .estimator = Estimator::ema_d,
                            .decay = Decay::decoupled,
                            .start = Start::zero_corrected,
                            .lambda = 0.1};
inline const Method bcosw_m{.estimator = Estimator::ema_d,
                            .decay = Decay::decoupled,
                            .start = Start::zero_corrected,
                            .lambda = 0.1};
inline const Method bcosw_c{
    .estimator = Estimator::cond_full, .decay = Decay::decoupled, .lambda = 0.1};
inline const Method bcosw_c_simple{
    .estimator = Estimator::cond_simple, .decay = Decay::decoupled, .lambda = 0.1};

inline const Method adams{.estimator = Estimator::cond_free,
                          .decay = Decay::coupled,
                          .beta_v = 0.95,
                          .eps = 1e-8,
                          .eps_root = 0};
inline const Method adamsw{.estimator = Estimator::cond_free,
                           .decay = Decay::decoupled,
                           .beta_v = 0.95,
                           .eps = 1e-8,
                           .eps_root = 0,
                           .lambda = 0.1};
inline const Method adam{.estimator = Estimator::ema_g,
                         .decay = Decay::coupled,
                         .start = Start::zero_corrected,
                         .beta_v = 0.999,
                         .eps = 1e-8,
                         .eps_root = 0};
inline const Method adamw{.estimator = Estimator::ema_g,
                          .decay = Decay::decoupled,
                          .start = Start::zero_corrected,
                          .beta_v = 0.999,
                          .eps = 1e-8,
                          .eps_root = 0,
                          .lambda = 0.01};

struct NamedMethod {
  std::string_view id;
  const Method* method;
};

/// All of the above, in this order.
BCOS_API std::span<const NamedMethod> named_methods();

/// "bcosw_c", or "bcosw_c@paper" for the form the paper used: bcos* start from the first gradient,
/// adam and adamw take beta_v = 0.99 and lambda = 0.1. Throws with the nearest known id.
BCOS_API Method method_by_name(std::string_view name);

/// The id of the named method that `method` equals, "@paper" forms included; empty if none.
BCOS_API std::string name_of(const Method& method);

}  // namespace bcos
