#pragma once

#include <functional>

#include "lab/theory/problem.hpp"

namespace bcos::lab::theory {

/// The zero of an increasing function between least and most, to the last bit.
double increasing_root(const std::function<double(double)>& f, double least, double most);

/// Gauss and Hermite: sum_i weight_i f(node_i) = E f(N(0,1)) for polynomials of degree < 2 nodes.
struct Quadrature {
  Vector nodes;
  Vector weights;
};
const Quadrature& gauss_hermite();  ///< 160 nodes

/// E f(mean + sd N(0,1)).
double normal_mean(double mean, double sd, const std::function<double(double)>& f);

/// Riemann's sum of k^-s over k = 1, 2, ...; s > 1.
double zeta(double s);

}  // namespace bcos::lab::theory
