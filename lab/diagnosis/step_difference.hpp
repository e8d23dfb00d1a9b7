#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lab/diagnosis/sampling.hpp"

/// How far a practical step is from the conceptual one, by repeated samples at one x and one state:
/// err = E[d / sqrt(v + eps)] - phi, phi_k = E d_k / sqrt(E|d_k|^2).
namespace bcos::lab::diagnosis {

/// d and v of `count` samples, one after another; v has one number a block, and the blocks follow
/// each other and have one size.
template <class T>
struct StepSamples {
  std::span<const T> d;
  std::span<const T> v;
  std::size_t count = 0;
};

/// What is known of one block; none where it would be a division by 0.
struct BlockDifference {
  double size = 0;                 ///< |err_k|
  std::optional<double> relative;  ///< |err_k| / |phi_k|: says nothing where phi_k is about 0
  std::optional<double> tau;       ///< |E v_k - E|d_k|^2| / E|d_k|^2
  std::optional<double> snr;       ///< (E v_k + eps)^2 / Var v_k
  /// The correlation of v_k with d_k along E d_k: Corr(d, v) sign(E d) for a single coordinate.
  std::optional<double> correlation;
};

struct StepDifference {
  std::vector<numbers::Estimate> err;  ///< a coordinate each
  std::vector<double> phi;
  std::vector<BlockDifference> blocks;
  double largest = 0;        ///< |err|_inf
  double norm = 0;           ///< |err|_2
  double amplification = 0;  ///< the largest |d_k| / sqrt(v_k) of all samples
};

/// eps_root is the eps under the root. A phi that is known is taken as it is; else it is estimated
/// from the samples, and err is then a jackknife's value. Needs two samples.
template <class T>
StepDifference step_difference(const StepSamples<T>& samples, double eps_root,
                               std::span<const double> known_phi = {});

}  // namespace bcos::lab::diagnosis
