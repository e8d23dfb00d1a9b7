#include "lab/diagnosis/aiming.hpp"

#include <cmath>

#include "lab/diagnosis/blocks.hpp"

namespace bcos::lab::diagnosis {

Aim& Aim::operator+=(const Aim& other) {
  inner += other.inner;
  e_squared += other.e_squared;
  w_squared += other.w_squared;
  return *this;
}

std::optional<double> Aim::cosine() const {
  if (!(e_squared > 0 && w_squared > 0)) return std::nullopt;
  return inner / (std::sqrt(e_squared) * std::sqrt(w_squared));
}

template <class T>
Aim aim_of(std::span<const T> e, std::span<const T> w) {
  if (e.size() != w.size()) {
    throw fail("aiming", "expected two vectors of one size but received {} and {}", e.size(),
               w.size());
  }
  Aim aim;
  for (std::size_t i = 0; i < e.size(); ++i) {
    aim.inner += static_cast<double>(e[i]) * w[i];
    aim.e_squared += static_cast<double>(e[i]) * e[i];
    aim.w_squared += static_cast<double>(w[i]) * w[i];
  }
  return aim;
}

template <class T>
Aim aim_of(std::span<const T> x, std::span<const T> x_ref, std::span<const T> w, double lambda) {
  if (x.size() != x_ref.size() || x.size() != w.size()) {
    throw fail("aiming", "expected three vectors of one size but received {}, {} and {}", x.size(),
               x_ref.size(), w.size());
  }
  Aim aim;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double e = static_cast<double>(x[i]) - x_ref[i];
    const double direction = w[i] + lambda * x[i];
    aim.inner += e * direction;
    aim.e_squared += e * e;
    aim.w_squared += direction * direction;
  }
  return aim;
}

double aiming_margin(const Aim& aim_with_decay, double lambda) {
  return aim_with_decay.inner - lambda * aim_with_decay.e_squared;
}

template <class T>
void normalised(std::span<const T> d, std::span<const T> v, double eps_root, double eps,
                std::span<T> out) {
  const std::size_t size = block_size_of("normalised", d.size(), v.size());
  for (std::size_t k = 0; k < v.size(); ++k) {
    const std::span<const T> block = d.subspan(k * size, size);
    const double divisor = divisor_of(block, v[k], eps_root, eps);
    for (std::size_t i = 0; i < size; ++i) out[k * size + i] = static_cast<T>(block[i] / divisor);
  }
}

template Aim aim_of(std::span<const float>, std::span<const float>);
template Aim aim_of(std::span<const double>, std::span<const double>);
template Aim aim_of(std::span<const float>, std::span<const float>, std::span<const float>, double);
template Aim aim_of(std::span<const double>, std::span<const double>, std::span<const double>,
                    double);
template void normalised(std::span<const float>, std::span<const float>, double, double,
                         std::span<float>);
template void normalised(std::span<const double>, std::span<const double>, double, double,
                         std::span<double>);

}  // namespace bcos::lab::diagnosis
