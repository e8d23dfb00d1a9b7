#pragma once

#include <string>
#include <vector>

#include "lab/theory/claim.hpp"
#include "lab/theory/problems/quadratic.hpp"
#include "lab/theory/radius.hpp"

/// T14 in three parts: where practical methods end, the radius and what attains it, and eps.
namespace bcos::lab::theory::t14 {

inline constexpr double kLambda = 0.5;
inline constexpr double kBeta = 0.9;

enum Mutant {
  kSignsFromPhi = 1,
  kGradientsTarget,
  kMomentumInOneStep,
  kHalfRadius,
  kPapersRadius,
  kOneCoordinate,
  kNoEps,
  kSymmetric,
  kAllAtOnePlace,
};

/// Points of the standard quadratic that are computed, not simulated.
struct Points {
  Quadratic problem;
  Vector target;    ///< x_*
  Vector momentum;  ///< what conceptual momentum aims at
  Vector sign;      ///< x_inf of the sign method, by averaging
  Vector sign_momentum;
};

/// A method on the standard quadratic: what it aims at and where it ended.
struct Contender {
  std::string name;
  Method method;
  Vector aim = {};  ///< of the conceptual method it is compared with
  Tail tail = {};
  std::vector<numbers::Estimate> end = {};    ///< the mean of the tail
  std::vector<numbers::Estimate> limit = {};  ///< x_inf, by averaging
  double averaging = 0;  ///< model error of averaging, a share of alpha times the memory
};

/// The method with the decay of this claim.
Method decoupled(Method method);

/// Signs on skewed noise, which attain the sharper radius: in coordinates, in blocks, with eps.
void check_attained(const Setup& setup, Findings& findings);
/// What eps trades: a steadier v + eps for a biased one.
void check_eps(const Setup& setup, Findings& findings);
/// The radii of every practical method on the standard quadratic: recorded, for they are far above
/// what is seen; and err_t at a state, sampled and by quadrature.
void record_radii(const Setup& setup, const Points& points, const std::vector<Contender>& all,
                  Findings& findings);
/// That no multiple of |phi| bounds the step difference.
void check_relative_form(const Setup& setup, Findings& findings);

}  // namespace bcos::lab::theory::t14
