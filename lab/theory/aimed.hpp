#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/theory/problem.hpp"

namespace bcos::lab::theory {

/// A problem whose moments and target are known, with a decay: all that the bounds on the
/// conceptual method ask for.
struct Aimed {
  std::string id;
  std::unique_ptr<Problem> problem;
  double lambda = 0;
  Vector target;
  double b_star = 0;
  double d0 = 0;  ///< |x_0 - x_*|^2

  double blocks() const { return static_cast<double>(problem->blocks()); }
};

/// Nothing: the moments or the target of this problem are not known.
std::optional<Aimed> aimed(std::string id, std::unique_ptr<Problem> problem, double lambda);

/// A registered problem with its own decay. Throws Error where something is not known.
Aimed aimed(const std::string& id);

/// The same problem with -d for d, which leads away from the target: what a mutant of the aiming
/// condition runs on.
Aimed reversed(Aimed aimed);

/// All registered problems that can be had, each with its own decay.
std::vector<Aimed> aimed_problems();
/// The same with lambda = 0.
std::vector<Aimed> aimed_without_decay();

}  // namespace bcos::lab::theory
