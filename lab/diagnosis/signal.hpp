#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// How much of a direction d is signal: rho = |E d|^2 / E|d|^2, from averages over the steps.
///
/// u is the moving average of d and v that of |d|^2, with the same beta, both begun at the first d.
/// |u|^2 / v lies in [0, 1] but noise alone lifts it to kappa_t in the mean. The samples must be
/// independent given x: gradients are, momenta share theirs with the steps before.
namespace bcos::lab::diagnosis {

/// E|u_t|^2 / E v_t of pure noise: beta^{2t} + ((1-beta)/(1+beta)) (1 - beta^{2t}).
double kappa(double beta, std::uint64_t t);

struct SignalFraction {
  std::optional<double> raw;     ///< |u|^2 / v; none where v = 0
  std::optional<double> rho;     ///< without the bias, clamped to [0, 1]; none at kappa = 1
  std::optional<double> snr;     ///< rho / (1 - rho); none where rho is missing or 1
  std::optional<double> signal;  ///< |E d|^2 without bias, so it may be negative
  std::optional<double> noise;   ///< E|d - E d|^2 without bias
};
SignalFraction signal_fraction(double u_squared, double v, double kappa);

/// |u|^2 and v of one block or, added up, of many.
struct SignalSums {
  double u_squared = 0;
  double v = 0;
  std::uint64_t blocks = 0;
  std::uint64_t silent = 0;  ///< blocks with no more than pure noise has in the mean

  SignalSums& operator+=(const SignalSums& other);
};

/// u (n numbers) and v (one a block) of a vector whose blocks follow each other, all of one size.
template <class T>
class SignalAverages {
 public:
  SignalAverages(std::size_t size, double beta, std::size_t block_size = 1);

  void add(std::span<const T> d);

  std::uint64_t count() const { return count_; }  ///< samples so far
  double kappa() const;                           ///< count >= 1
  SignalSums block(std::size_t k) const;
  SignalSums sums() const;

  /// For those who keep them in a file.
  std::span<T> u() { return u_; }
  std::span<T> v() { return v_; }
  std::span<const T> u() const { return u_; }
  std::span<const T> v() const { return v_; }
  void set_count(std::uint64_t count) { count_ = count; }

 private:
  double beta_;
  std::size_t block_size_;
  std::uint64_t count_ = 0;
  std::vector<T> u_;
  std::vector<T> v_;
};

}  // namespace bcos::lab::diagnosis
