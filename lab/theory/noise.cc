#include "lab/theory/noise.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "lab/numbers/philox.hpp"

namespace bcos::lab::theory {
namespace {

constexpr std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }
constexpr std::uint32_t high(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

/// The middle of one of 2^53 equal parts of (0, 1): neither 0 nor 1.
double unit(std::uint32_t a, std::uint32_t b) {
  const std::uint64_t bits = a | std::uint64_t{b} << 32;
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
}

}  // namespace

std::uint64_t key_of(std::string_view name) {
  // FNV-1a.
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

Noise::Noise(std::uint64_t key, std::uint64_t replicate, std::uint64_t step)
    : key_{low(key), high(key)},
      counter_{0, low(replicate), low(step), high(step) << 16 | high(replicate)} {}

std::array<double, 2> Noise::two_uniforms() {
  const auto words = lab::numbers::philox(counter_, key_);
  ++counter_[0];
  return {unit(words[0], words[1]), unit(words[2], words[3])};
}

double Noise::uniform() {
  if (std::exchange(has_uniform_, false)) return second_uniform_;
  const auto [first, second] = two_uniforms();
  second_uniform_ = second;
  has_uniform_ = true;
  return first;
}

double Noise::normal() {
  if (std::exchange(has_normal_, false)) return second_normal_;
  // Box and Muller.
  const auto [radius, angle] = two_uniforms();
  const double length = std::sqrt(-2 * std::log(radius));
  second_normal_ = length * std::sin(2 * std::numbers::pi * angle);
  has_normal_ = true;
  return length * std::cos(2 * std::numbers::pi * angle);
}

double Noise::exponential() { return -std::log(uniform()); }

}  // namespace bcos::lab::theory
