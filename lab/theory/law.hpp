#pragma once

#include "lab/theory/numerics.hpp"

namespace bcos::lab::theory {

/// Mean and central moments c_2, c_3, c_4 of a random number y.
struct CentralMoments {
  double mean = 0;
  double c2 = 0;
  double c3 = 0;
  double c4 = 0;

  double second() const { return mean * mean + c2; }  ///< E y^2
  /// Var(y^2) and Cov(y, y^2) = E y^3 - E y E y^2, free of differences of large numbers.
  double variance_of_square() const {
    return 4 * mean * mean * c2 + 4 * mean * c3 + (c4 - c2 * c2);
  }
  double covariance_with_square() const { return 2 * mean * c2 + c3; }

  /// The moments of a + b y.
  CentralMoments moved(double a, double b) const;
};

/// The law of one coordinate of g.
struct Law {
  enum class Kind {
    gaussian,
    exponential,  ///< shifted: mean + sd (E - 1), E exponential; its skewness is 2
    two_point,    ///< a low value with probability `rare`, else a high one
  };
  Kind kind = Kind::gaussian;
  double mean = 0;
  double sd = 1;      ///< > 0
  double rare = 0.5;  ///< of two_point alone

  /// `low` with probability `rare`, else `high`; low < high.
  static Law two_points(double low, double high, double rare);

  double sample(Noise& noise) const;
  CentralMoments moments() const;
  /// sum_i weight_i f(node_i) = E f, for an f that may jump or bend sharply at the points given.
  /// Of two_point, its two points.
  Quadrature nodes(ConstSpan around, int halvings = 40) const;
};

}  // namespace bcos::lab::theory
