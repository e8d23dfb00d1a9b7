#include "lab/numbers/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bcos::lab::numbers {

void Moments::add(double value) {
  const double y = value - centre_;
  const double y2 = y * y;
  ++count_;
  s1_ += y;
  s2_ += y2;
  s3_ += y2 * y;
  s4_ += y2 * y2;
}

void Moments::add(const Moments& other) {
  count_ += other.count_;
  s1_ += other.s1_;
  s2_ += other.s2_;
  s3_ += other.s3_;
  s4_ += other.s4_;
}

Estimate Moments::mean() const {
  const double n = static_cast<double>(count_);
  const double mean = s1_ / n;
  const double variance = std::max(0.0, (s2_ - n * mean * mean) / (n - 1));
  return {centre_ + mean, std::sqrt(variance / n)};
}

Estimate Moments::variance() const {
  const double n = static_cast<double>(count_);
  const double a = s1_ / n;
  const double b = s2_ / n;
  const double variance = std::max(0.0, b - a * a);
  const double fourth = s4_ / n - 4 * a * s3_ / n + 6 * a * a * b - 3 * a * a * a * a;
  return {variance * n / (n - 1), std::sqrt(std::max(0.0, fourth - variance * variance) / n)};
}

Estimate mean_of(std::span<const double> sample) {
  Moments moments(sample.empty() ? 0 : sample.front());
  for (const double value : sample) moments.add(value);
  return moments.mean();
}

Estimate share_of(std::uint64_t hits, std::uint64_t count) {
  const double n = static_cast<double>(count);
  const double p = static_cast<double>(hits) / n;
  const double q = std::clamp(p, 1 / n, 1 - 1 / n);
  return {p, std::sqrt(q * (1 - q) / n)};
}

double slope_of(std::span<const double> x, std::span<const double> y) {
  const double n = static_cast<double>(x.size());
  double mx = 0;
  double my = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mx += x[i] / n;
    my += y[i] / n;
  }
  double xy = 0;
  double xx = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mx) * (y[i] - my);
    xx += (x[i] - mx) * (x[i] - mx);
  }
  return xy / xx;
}

double normal_quantile(double p) {
  double least = 0;
  double most = 40;
  for (int i = 0; i < 200; ++i) {
    const double z = (least + most) / 2;
    (std::erfc(z / std::numbers::sqrt2) / 2 > p ? least : most) = z;
  }
  return (least + most) / 2;
}

Estimate largest_in_batches(std::span<const double> sample, std::size_t batches) {
  batches = std::min(batches, sample.size());
  const std::size_t size = sample.size() / batches;
  std::vector<double> largest;
  largest.reserve(batches);
  for (std::size_t i = 0; i < batches; ++i) {
    largest.push_back(std::ranges::max(sample.subspan(i * size, size)));
  }
  return mean_of(largest);
}

double allowed_errors(std::size_t comparisons) {
  constexpr double kLeast = 4.5;
  constexpr double kAlarm = 1e-4;  // on both sides together
  if (comparisons == 0) return kLeast;
  return std::max(kLeast, normal_quantile(kAlarm / 2 / static_cast<double>(comparisons)));
}

}  // namespace bcos::lab::numbers
