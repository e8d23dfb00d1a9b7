#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/theory/claim.hpp"
#include "lab/theory/problems/quadratic.hpp"
#include "lab/theory/radius.hpp"

/// T14 in two parts: where practical methods end, and what the theorem's radius says about it.
namespace bcos::lab::theory::t14 {

inline constexpr double kLambda = 0.5;
inline constexpr double kBeta = 0.9;

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
  Vector aim = {};  ///< of the conceptual method it stands for
  Tail tail = {};
  std::vector<numbers::Estimate> end = {};    ///< the mean of the tail
  std::vector<numbers::Estimate> limit = {};  ///< x_inf, by averaging
  double averaging = 0;                       ///< model error of averaging: alpha times the memory
};

/// The three radii of every practical one, against what is seen.
void check_radii(const Setup& setup, const Points& points, const std::vector<Contender>& all,
                 Findings& findings);
/// The radii of BCOS-g on every problem with a target.
void check_other_problems(const Setup& setup, Findings& findings);
/// That no multiple of |phi| bounds the step difference.
void check_relative_form(const Setup& setup, Findings& findings);

}  // namespace bcos::lab::theory::t14
