#include "lab/theory/sampled_moments.hpp"

#include <algorithm>

#include "lab/theory/one_step.hpp"
#include "lab/theory/parallel.hpp"

namespace bcos::lab::theory {
namespace {

constexpr std::uint64_t kChunk = 4096;

/// Sums about the exact values, so that little is lost in them.
struct Sums {
  numbers::Moments v;
  numbers::Moments product;  ///< (d - E d)(v - E v)
  numbers::Moments step;

  explicit Sums(const EstimatorMoments& exact)
      : v(exact.mean()), product(exact.covariance), step(exact.phi()) {}

  void add(const Sums& other) {
    v.add(other.v);
    product.add(other.product);
    step.add(other.step);
  }
};

Sums sums_of(const OneStep& made, const EstimatorMoments& exact) {
  Sums sums(exact);
  for (std::size_t i = 0; i < made.v().size(); ++i) {
    sums.v.add(made.v()[i]);
    sums.product.add((made.d()[i] - exact.d.mean) * (made.v()[i] - exact.mean()));
    sums.step.add(made.step()[i]);
  }
  return sums;
}

}  // namespace

std::vector<SampledMoments> sampled_moments(std::span<const Method> methods, double m, double v,
                                            const Law& law, std::uint64_t samples,
                                            std::uint64_t key) {
  std::vector<EstimatorMoments> exact;
  for (const Method& method : methods) exact.push_back(moments_of(method, m, v, law.moments()));
  const States states{.m = {m}, .v = {v}};
  const std::uint64_t chunks = (samples + kChunk - 1) / kChunk;
  std::vector<std::vector<Sums>> parts(chunks);
  parallel_for(chunks, [&](std::size_t chunk) {
    Noise noise(key, chunk, 0);
    Vector g(std::min(kChunk, samples - chunk * kChunk));
    for (double& value : g) value = law.sample(noise);
    for (std::size_t k = 0; k < methods.size(); ++k) {
      OneStep step(methods[k], states, 1, g.size());
      step.run(g);
      parts[chunk].push_back(sums_of(step, exact[k]));
    }
  });
  std::vector<SampledMoments> sampled;
  for (std::size_t k = 0; k < methods.size(); ++k) {
    Sums all(exact[k]);
    for (const std::vector<Sums>& part : parts) all.add(part[k]);
    const numbers::Estimate mean = all.v.mean();
    sampled.push_back({.bias = {mean.value - exact[k].d.second(), mean.se},
                       .variance = all.v.variance(),
                       .covariance = all.product.mean(),
                       .step = all.step.mean()});
  }
  return sampled;
}

}  // namespace bcos::lab::theory
