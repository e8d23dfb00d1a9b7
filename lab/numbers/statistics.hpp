#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bcos::lab::numbers {

/// A number that was sampled, with its standard error; se = 0: it was computed.
struct Estimate {
  double value = 0;
  double se = 0;
};

/// Sums of powers of a sample, taken about a centre that is near its mean.
class Moments {
 public:
  explicit Moments(double centre = 0) : centre_(centre) {}

  void add(double value);
  /// Both have the same centre.
  void add(const Moments& other);

  std::uint64_t count() const { return count_; }
  Estimate mean() const;      ///< se = sd / sqrt(N)
  Estimate variance() const;  ///< se = sqrt((mu4 - var^2) / N)

 private:
  double centre_;
  std::uint64_t count_ = 0;
  double s1_ = 0;
  double s2_ = 0;
  double s3_ = 0;
  double s4_ = 0;
};

/// The mean of a sample, summed in its order.
Estimate mean_of(std::span<const double> sample);

/// A share of `count` trials: se = sqrt(p (1-p) / N), and where none or all were hits that of one
/// hit, so that it is never 0.
Estimate share_of(std::uint64_t hits, std::uint64_t count);

/// The slope of the line of least squares through (x, y).
double slope_of(std::span<const double> x, std::span<const double> y);

/// z with P(N(0,1) > z) = p, for 0 < p < 1/2.
double normal_quantile(double p);

/// The mean of the largest numbers of so many equal parts of a sample: how large the largest of one
/// part is, with a standard error.
Estimate largest_in_batches(std::span<const double> sample, std::size_t batches = 16);

/// How many standard errors each of so many sampled comparisons is given, that all of them together
/// raise a false alarm in one run of 10,000; never fewer than 4.5.
double allowed_errors(std::size_t comparisons);

}  // namespace bcos::lab::numbers
