#include "lab/diagnosis/step_difference.hpp"

#include <algorithm>
#include <cmath>

#include "lab/diagnosis/amplification.hpp"
#include "lab/diagnosis/blocks.hpp"

namespace bcos::lab::diagnosis {
namespace {

/// One block of all samples, in float64.
class Block {
 public:
  template <class T>
  Block(const StepSamples<T>& samples, std::size_t blocks, std::size_t size, std::size_t k)
      : count_(samples.count), size_(size), d_(count_ * size), v_(count_), squares_(count_) {
    for (std::size_t j = 0; j < count_; ++j) {
      const std::span<const T> d = samples.d.subspan((j * blocks + k) * size, size);
      std::ranges::copy(d, d_.begin() + static_cast<std::ptrdiff_t>(j * size));
      v_[j] = samples.v[j * blocks + k];
      squares_[j] = squared_norm(d);
    }
    power_ = numbers::mean_of(squares_).value;
    mean_.resize(size);
    for (std::size_t j = 0; j < count_; ++j) {
      for (std::size_t i = 0; i < size; ++i) mean_[i] += d(j)[i] / static_cast<double>(count_);
    }
  }

  double phi(std::size_t i) const { return power_ > 0 ? mean_[i] / std::sqrt(power_) : 0; }

  /// d_i / sqrt(v + eps) of every sample.
  std::vector<double> steps(std::size_t i, double eps_root) const {
    std::vector<double> values(count_);
    for (std::size_t j = 0; j < count_; ++j) {
      values[j] = d(j)[i] / divisor_of(d(j), v_[j], eps_root, 0);
    }
    return values;
  }

  /// mean(steps) - phi_i, with the jackknife's standard error.
  numbers::Estimate difference(std::size_t i, std::span<const double> steps) const {
    const auto n = static_cast<double>(count_);
    const double step = numbers::mean_of(steps).value;
    std::vector<double> without_one(count_);
    for (std::size_t j = 0; j < count_; ++j) {
      const double mean = (n * mean_[i] - d(j)[i]) / (n - 1);
      const double power = (n * power_ - squares_[j]) / (n - 1);
      const double phi = power > 0 ? mean / std::sqrt(power) : 0;
      without_one[j] = (n * step - steps[j]) / (n - 1) - phi;
    }
    return jackknife(step - phi(i), without_one);
  }

  std::optional<double> tau() const {
    if (!(power_ > 0)) return std::nullopt;
    return std::abs(numbers::mean_of(v_).value - power_) / power_;
  }

  std::optional<double> snr(double eps_root) const {
    const double variance = covariance(v_, v_);
    if (!(variance > 0)) return std::nullopt;
    const double mean = numbers::mean_of(v_).value + eps_root;
    return mean * mean / variance;
  }

  std::optional<double> correlation() const {
    std::vector<double> along(count_);
    for (std::size_t j = 0; j < count_; ++j) {
      for (std::size_t i = 0; i < size_; ++i) along[j] += d(j)[i] * mean_[i];
    }
    const double product = covariance(along, along) * covariance(v_, v_);
    if (!(product > 0)) return std::nullopt;
    return covariance(along, v_) / std::sqrt(product);
  }

 private:
  std::span<const double> d(std::size_t j) const { return std::span(d_).subspan(j * size_, size_); }

  static double covariance(std::span<const double> a, std::span<const double> b) {
    const double mean_a = numbers::mean_of(a).value;
    const double mean_b = numbers::mean_of(b).value;
    double sum = 0;
    for (std::size_t j = 0; j < a.size(); ++j) sum += (a[j] - mean_a) * (b[j] - mean_b);
    return sum / static_cast<double>(a.size() - 1);
  }

  std::size_t count_;
  std::size_t size_;
  std::vector<double> d_;
  std::vector<double> v_;
  std::vector<double> squares_;  // |d|^2
  double power_ = 0;             // E|d|^2
  std::vector<double> mean_;     // E d
};

}  // namespace

template <class T>
StepDifference step_difference(const StepSamples<T>& samples, double eps_root,
                               std::span<const double> known_phi) {
  const std::size_t count = samples.count;
  if (count < 2 || samples.d.size() % count != 0 || samples.v.size() % count != 0) {
    throw fail("step_difference",
               "expected two or more samples of one size but received {} of {} and {} numbers",
               count, samples.d.size(), samples.v.size());
  }
  const std::size_t elements = samples.d.size() / count;
  const std::size_t blocks = samples.v.size() / count;
  const std::size_t size = block_size_of("step_difference", elements, blocks);
  if (!known_phi.empty() && known_phi.size() != elements) {
    throw fail("step_difference", "expected a phi of {} elements but received {}", elements,
               known_phi.size());
  }
  StepDifference result;
  for (std::size_t k = 0; k < blocks; ++k) {
    const Block block(samples, blocks, size, k);
    BlockDifference found;
    double phi_squared = 0;
    double err_squared = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const std::vector<double> steps = block.steps(i, eps_root);
      const double phi = known_phi.empty() ? block.phi(i) : known_phi[k * size + i];
      numbers::Estimate err;
      if (known_phi.empty()) {
        err = block.difference(i, steps);
      } else {
        err = numbers::mean_of(steps);
        err.value -= phi;
      }
      result.err.push_back(err);
      result.phi.push_back(phi);
      result.largest = std::max(result.largest, std::abs(err.value));
      phi_squared += phi * phi;
      err_squared += err.value * err.value;
    }
    result.norm += err_squared;
    found.size = std::sqrt(err_squared);
    if (phi_squared > 0) found.relative = found.size / std::sqrt(phi_squared);
    found.tau = block.tau();
    found.snr = block.snr(eps_root);
    found.correlation = block.correlation();
    result.blocks.push_back(found);
  }
  result.norm = std::sqrt(result.norm);
  for (std::size_t j = 0; j < count; ++j) {
    const Amplification one = amplification(samples.d.subspan(j * elements, elements),
                                            samples.v.subspan(j * blocks, blocks));
    result.amplification = std::max(result.amplification, one.largest);
  }
  return result;
}

template StepDifference step_difference(const StepSamples<float>&, double, std::span<const double>);
template StepDifference step_difference(const StepSamples<double>&, double,
                                        std::span<const double>);

}  // namespace bcos::lab::diagnosis
