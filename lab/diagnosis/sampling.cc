#include "lab/diagnosis/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lab/diagnosis/blocks.hpp"

namespace bcos::lab::diagnosis {
namespace {

template <class T>
void check(const Samples<T>& samples, std::size_t least) {
  if (samples.count < least || samples.values.size() % samples.count != 0) {
    throw fail("sampling", "expected at least {} samples of one size but received {} of {} numbers",
               least, samples.count, samples.values.size());
  }
}

template <class T>
std::vector<double> mean_of(const Samples<T>& samples) {
  std::vector<double> mean(samples.size());
  for (std::size_t j = 0; j < samples.count; ++j) {
    const std::span<const T> sample = samples.sample(j);
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += sample[i];
  }
  for (double& value : mean) value /= static_cast<double>(samples.count);
  return mean;
}

/// signal over power, not clamped: a jackknife of clamped values would lean to the inside.
double plain_ratio(const SampledMoments& moments) {
  const double power = moments.power();
  return power > 0 ? moments.signal() / power : 0;
}

}  // namespace

SampledMoments& SampledMoments::operator+=(const SampledMoments& other) {
  count = other.count;
  mean_squared += other.mean_squared;
  variance += other.variance;
  return *this;
}

double SampledMoments::signal() const {
  return mean_squared - variance / static_cast<double>(count);
}

double SampledMoments::power() const {
  return mean_squared + variance * (1 - 1 / static_cast<double>(count));
}

std::optional<double> SampledMoments::rho() const {
  if (!(power() > 0)) return std::nullopt;
  return std::clamp(signal() / power(), 0.0, 1.0);
}

template <class T>
std::vector<SampledMoments> sampled_moments(const Samples<T>& samples, std::size_t blocks) {
  check(samples, 2);
  const std::size_t size = block_size_of("sampling", samples.size(), blocks);
  const std::vector<double> mean = mean_of(samples);
  std::vector<SampledMoments> result(blocks);
  for (std::size_t k = 0; k < blocks; ++k) {
    SampledMoments& moments = result[k];
    moments.count = samples.count;
    double squares = 0;
    for (std::size_t i = k * size; i < (k + 1) * size; ++i) {
      moments.mean_squared += mean[i] * mean[i];
      for (std::size_t j = 0; j < samples.count; ++j) {
        const double away = samples.sample(j)[i] - mean[i];
        squares += away * away;
      }
    }
    moments.variance = squares / static_cast<double>(samples.count - 1);
  }
  return result;
}

template <class T>
SampledMoments sampled_moments(const Samples<T>& samples) {
  return sampled_moments(samples, 1).front();
}

template <class T>
SampledMoments momentum_moments(const Samples<T>& gradients, std::span<const T> m, double beta) {
  SampledMoments moments = sampled_moments(gradients);
  if (m.size() != gradients.size()) {
    throw fail("sampling", "expected a momentum of {} elements but received {}", gradients.size(),
               m.size());
  }
  const std::vector<double> mean = mean_of(gradients);
  moments.mean_squared = 0;
  for (std::size_t i = 0; i < m.size(); ++i) {
    const double moved = beta * m[i] + (1 - beta) * mean[i];
    moments.mean_squared += moved * moved;
  }
  moments.variance *= (1 - beta) * (1 - beta);
  return moments;
}

template <class T>
numbers::Estimate sampled_rho(const Samples<T>& samples) {
  check(samples, 3);
  const SampledMoments whole = sampled_moments(samples);
  const std::vector<double> mean = mean_of(samples);
  const auto count = static_cast<double>(samples.count);
  std::vector<double> without_one(samples.count);
  for (std::size_t j = 0; j < samples.count; ++j) {
    double along = 0;  // <gbar, gbar - g>
    double away = 0;   // |gbar - g|^2
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const double difference = mean[i] - samples.sample(j)[i];
      along += mean[i] * difference;
      away += difference * difference;
    }
    // The mean of the others is gbar + (gbar - g) / (M-1).
    SampledMoments others;
    others.count = samples.count - 1;
    others.mean_squared =
        whole.mean_squared + 2 * along / (count - 1) + away / ((count - 1) * (count - 1));
    others.variance = (whole.variance * (count - 1) - away * count / (count - 1)) / (count - 2);
    without_one[j] = plain_ratio(others);
  }
  numbers::Estimate rho = jackknife(plain_ratio(whole), without_one);
  rho.value = std::clamp(rho.value, 0.0, 1.0);
  return rho;
}

numbers::Estimate jackknife(double whole, std::span<const double> without_one) {
  const auto count = static_cast<double>(without_one.size());
  const double mean = std::accumulate(without_one.begin(), without_one.end(), 0.0) / count;
  double squares = 0;
  for (const double value : without_one) squares += (value - mean) * (value - mean);
  return {count * whole - (count - 1) * mean, std::sqrt(squares * (count - 1) / count)};
}

numbers::Estimate ratio_of_means(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.size() < 2) {
    throw fail("sampling", "expected two or more pairs but received {} and {} numbers", a.size(),
               b.size());
  }
  const double above = std::accumulate(a.begin(), a.end(), 0.0);
  const double below = std::accumulate(b.begin(), b.end(), 0.0);
  std::vector<double> without_one(a.size());
  for (std::size_t j = 0; j < a.size(); ++j) without_one[j] = (above - a[j]) / (below - b[j]);
  return jackknife(above / below, without_one);
}

template SampledMoments sampled_moments(const Samples<float>&);
template SampledMoments sampled_moments(const Samples<double>&);
template std::vector<SampledMoments> sampled_moments(const Samples<float>&, std::size_t);
template std::vector<SampledMoments> sampled_moments(const Samples<double>&, std::size_t);
template SampledMoments momentum_moments(const Samples<float>&, std::span<const float>, double);
template SampledMoments momentum_moments(const Samples<double>&, std::span<const double>, double);
template Estimate sampled_rho(const Samples<float>&);
template Estimate sampled_rho(const Samples<double>&);

}  // namespace bcos::lab::diagnosis
