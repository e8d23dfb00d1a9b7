#include "lab/diagnosis/signal.hpp"

#include <algorithm>
#include <cmath>

#include "engine/error.hpp"

namespace bcos::lab::diagnosis {

double kappa(double beta, std::uint64_t t) {
  const double old = std::pow(beta, 2 * static_cast<double>(t));
  return old + (1 - beta) / (1 + beta) * (1 - old);
}

SignalFraction signal_fraction(double u_squared, double v, double kappa) {
  SignalFraction result;
  if (v > 0) result.raw = std::min(1.0, u_squared / v);
  if (kappa >= 1) return result;
  result.signal = (u_squared - kappa * v) / (1 - kappa);
  result.noise = (v - u_squared) / (1 - kappa);
  if (!result.raw) return result;
  result.rho = std::clamp((*result.raw - kappa) / (1 - kappa), 0.0, 1.0);
  if (*result.rho < 1) result.snr = *result.rho / (1 - *result.rho);
  return result;
}

SignalSums& SignalSums::operator+=(const SignalSums& other) {
  u_squared += other.u_squared;
  v += other.v;
  blocks += other.blocks;
  silent += other.silent;
  return *this;
}

template <class T>
SignalAverages<T>::SignalAverages(std::size_t size, double beta, std::size_t block_size)
    : beta_(beta), block_size_(block_size), u_(size), v_(size / block_size) {
  if (size % block_size != 0) {
    throw fail("signal", "expected blocks of one size but received {} elements in blocks of {}",
               size, block_size);
  }
}

template <class T>
void SignalAverages<T>::add(std::span<const T> d) {
  if (d.size() != u_.size()) {
    throw fail("signal", "expected {} elements but received {}", u_.size(), d.size());
  }
  const double keep = count_ == 0 ? 0 : beta_;
  for (std::size_t k = 0; k < v_.size(); ++k) {
    double squares = 0;
    for (std::size_t i = k * block_size_; i < (k + 1) * block_size_; ++i) {
      const double value = d[i];
      u_[i] = static_cast<T>(keep * u_[i] + (1 - keep) * value);
      squares += value * value;
    }
    v_[k] = static_cast<T>(keep * v_[k] + (1 - keep) * squares);
  }
  ++count_;
}

template <class T>
double SignalAverages<T>::kappa() const {
  return diagnosis::kappa(beta_, count_ - 1);
}

template <class T>
SignalSums SignalAverages<T>::block(std::size_t k) const {
  SignalSums sums{.u_squared = 0, .v = v_[k], .blocks = 1, .silent = 0};
  for (std::size_t i = k * block_size_; i < (k + 1) * block_size_; ++i) {
    sums.u_squared += static_cast<double>(u_[i]) * u_[i];
  }
  sums.silent = sums.u_squared <= kappa() * sums.v ? 1 : 0;
  return sums;
}

template <class T>
SignalSums SignalAverages<T>::sums() const {
  SignalSums all;
  for (std::size_t k = 0; k < v_.size(); ++k) all += block(k);
  return all;
}

template class SignalAverages<float>;
template class SignalAverages<double>;

}  // namespace bcos::lab::diagnosis
