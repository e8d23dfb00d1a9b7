#pragma once

#include <optional>
#include <span>

/// Whether a direction w aims at a point: e = x - x_ref and w should point the same way.
namespace bcos::lab::diagnosis {

/// <e, w> with the two norms, of one block or, added up, of many.
struct Aim {
  double inner = 0;      ///< <e, w>
  double e_squared = 0;  ///< |e|^2
  double w_squared = 0;  ///< |w|^2

  Aim& operator+=(const Aim& other);
  std::optional<double> cosine() const;  ///< none where a norm is 0
};

/// Of two vectors.
template <class T>
Aim aim_of(std::span<const T> e, std::span<const T> w);

/// Of w + lambda x at x_ref.
template <class T>
Aim aim_of(std::span<const T> x, std::span<const T> x_ref, std::span<const T> w, double lambda = 0);

/// The aiming margin <e, D + lambda x_ref>, from the aim of D + lambda x: never negative where the
/// paper's assumption holds and D is its phi.
double aiming_margin(const Aim& aim_with_decay, double lambda);

/// d / (sqrt(v + eps_root) + eps), v one a block; where v vanished and d did not, d / |d|.
template <class T>
void normalised(std::span<const T> d, std::span<const T> v, double eps_root, double eps,
                std::span<T> out);

}  // namespace bcos::lab::diagnosis
