#pragma once

#include <array>
#include <cstdint>
#include <string_view>

/// Random numbers for experiments: a function of key, replicate, step and count alone, so that they
/// do not depend on threads and any replicate can be run again by itself.
namespace bcos::lab::theory {

/// The key of an experiment's name, "T5/P1/alpha=1.6": other names, other numbers.
std::uint64_t key_of(std::string_view name);

/// The numbers of one step of one replicate, one after another.
class Noise {
 public:
  Noise(std::uint64_t key, std::uint64_t replicate, std::uint64_t step);

  double uniform();      ///< (0, 1)
  double normal();       ///< mean 0, variance 1
  double exponential();  ///< mean 1

 private:
  std::array<double, 2> two_uniforms();

  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  double second_uniform_ = 0;
  double second_normal_ = 0;
  bool has_uniform_ = false;
  bool has_normal_ = false;
};

}  // namespace bcos::lab::theory
