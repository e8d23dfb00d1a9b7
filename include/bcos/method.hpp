#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "bcos/blocks.hpp"
#include "bcos/export.hpp"

namespace bcos {

/// Where a step goes: d.
enum class Direction {
  gradient,  ///< d = g
  momentum,  ///< m = beta m + (1-beta) g, d = m
  user,      ///< d is what the caller passes as the gradient (root finding)
};

/// How E|d|^2 of a block is estimated: v.
enum class Estimator {
  instant,      ///< |d|^2
  constant,     ///< c
  ema_d,        ///< beta_v v + (1-beta_v) |d|^2
  ema_g,        ///< beta_v v + (1-beta_v) |g|^2 (Adam)
  cond_full,    ///< conditional on m: beta^2 |m|^2 + 2 beta (1-beta) <m, m'> + (1-beta)^2 |g|^2
  cond_simple,  ///< beta' |m|^2 + (1-beta') |g|^2 with beta' = 1 - (1-beta)^2
  cond_free,    ///< the same with beta' = beta_v (AdamS)
  oracle,       ///< E|d|^2, supplied by the caller
};

/// How a block's stepsize gamma follows from alpha and v.
enum class StepRule {
  sqrt,     ///< alpha / (sqrt(v + eps_root) + eps)
  two_est,  ///< alpha |u| / (v + eps_root), u = beta u + (1-beta) d
  inv,      ///< alpha / (v + eps_root)
};

/// Where weight decay enters.
enum class Decay {
  none,
  coupled,    ///< g = gradient + lambda x
  decoupled,  ///< x = (1 - alpha lambda) x - gamma d
};

/// How states begin.
enum class Start {
  first,           ///< from the first gradient (the paper)
  zero,            ///< from zero, uncorrected
  zero_corrected,  ///< from zero, with Adam's bias correction
};

/// Which gradient `first` takes under coupled decay.
enum class CoupledStart {
  with_decay,  ///< gradient + lambda x (the paper)
  raw,         ///< the bare gradient (the authors' code)
};

/// Factor on a block's stepsize.
enum class BlockGain {
  one,
  sqrt,  ///< the square root of the block's size
};

/// A method is a point in the space of the paper: plain data, compared by value.
/// The named methods (bcos/methods.hpp) are constants of this type.
struct Method {
  Direction direction = Direction::momentum;
  Estimator estimator = Estimator::cond_full;
  StepRule rule = StepRule::sqrt;
  Decay decay = Decay::none;
  Start start = Start::zero;
  CoupledStart coupled_start = CoupledStart::with_decay;
  Blocks blocks = {};
  BlockGain block_gain = BlockGain::one;

  double beta = 0.9;        ///< smoothing of m and u, in [0, 1)
  double beta_v = 0.9;      ///< smoothing of v, in [0, 1); for cond_free it is beta', in (0, 1)
  double eps = 0.0;         ///< added to the root of v, >= 0
  double eps_root = 1e-12;  ///< added to v, >= 0
  double lambda = 0.0;      ///< weight decay, >= 0
  double c = 1.0;           ///< the constant estimate, > 0

  /// With start `first`: a coordinate or block begins at its first non-zero gradient, not at step
  /// 0.
  bool init_on_first_nonzero = false;

  bool operator==(const Method&) const = default;
};

/// Throws Error naming the field, its bound and the value given, if the method is not a valid one.
BCOS_API void validate(const Method& method);

/// Which states a method keeps.
struct StateKinds {
  bool m = false;  ///< one number per weight
  bool v = false;  ///< one number per block
  bool u = false;  ///< one number per weight
};
BCOS_API StateKinds state_kinds(const Method& method);

/// Which of the numbers a method reads.
struct NumbersUsed {
  bool beta = false;
  bool beta_v = false;
  bool eps = false;
  bool eps_root = false;
  bool lambda = false;
  bool c = false;
};
BCOS_API NumbersUsed numbers_used(const Method& method);

/// Whether two methods differ at most in beta, beta_v, eps, eps_root, lambda and c: all that may
/// change between two steps.
BCOS_API bool same_but_numbers(const Method& a, const Method& b);

/// The bound C on |d_k| / sqrt(v_k), pointwise for every gradient sequence; nullopt where there is
/// none.
BCOS_API std::optional<double> amplification_bound(const Method& method);

/// What a caller changes of a method, in the order of its fields. A number given to a method that
/// does not read it is an error; of eps and eps_root, giving one alone sets the other to 0.
struct MethodOptions {
  std::optional<Decay> decay = {};
  std::optional<Start> start = {};
  std::optional<CoupledStart> coupled_start = {};
  std::optional<Blocks> blocks = {};
  std::optional<BlockGain> block_gain = {};
  std::optional<double> beta = {};
  std::optional<double> beta_v = {};
  std::optional<double> eps = {};
  std::optional<double> eps_root = {};
  std::optional<double> lambda = {};
  std::optional<double> c = {};
  std::optional<bool> init_on_first_nonzero = {};
};

/// The method with the options applied and validated.
BCOS_API Method with(Method base, const MethodOptions& options);

}  // namespace bcos
