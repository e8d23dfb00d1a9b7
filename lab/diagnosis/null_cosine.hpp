#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// What a cosine to the last iterate is worth. x_t - x_T is the sum of the steps from t on, so a
/// direction that is part of them has a positive cosine with it even if every step is pure noise.
namespace bcos::lab::diagnosis {

/// The null cosines of every t < T for the step at t itself, given the lengths a_t = |x_{t+1} -
/// x_t| of steps whose directions are pure noise, correlated as beta^|s-t|: 0 where d is the
/// gradient, beta where it is the momentum,
///
///   sum_{s>=t} a_s beta^{s-t} / sqrt( sum_{s,r>=t} a_s a_r beta^|s-r| )
///
/// beta = 0: a_t / sqrt(sum_{s>=t} a_s^2). None where no step was taken from t on. The null cosine
/// of another direction at t is this times its cosine with the step, for noise carries no other
/// part of it into the sum.
std::vector<std::optional<double>> null_cosines(std::span<const double> lengths, double beta);

/// The same for `left` = T - t steps of one length.
double null_cosine(double beta, std::uint64_t left);

/// The cosine of a gradient of pure noise with the momentum that it enters: sqrt(1 - beta^2).
double gradient_part(double beta);

}  // namespace bcos::lab::diagnosis
