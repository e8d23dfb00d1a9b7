#include "lab/theory/problem.hpp"

namespace bcos::lab::theory {
namespace {

/// d_k = s_k z: no signal at all. Every bound of the one-step lemma is attained.
class PureNoise : public Problem {
 public:
  std::size_t size() const override { return kScale.size(); }
  Vector start() const override { return {2, 1, -1, 0.5}; }

  void sample(ConstSpan /*x*/, Noise& noise, Span d) const override {
    for (std::size_t k = 0; k < d.size(); ++k) d[k] = kScale[k] * noise.normal();
  }
  bool moments(ConstSpan /*x*/, Span mean, Span second) const override {
    for (std::size_t k = 0; k < mean.size(); ++k) {
      mean[k] = 0;
      second[k] = kScale[k] * kScale[k];
    }
    return true;
  }
  std::optional<Vector> target(double /*lambda*/) const override { return Vector(size(), 0.0); }

 private:
  static inline const Vector kScale = {1, 0.5, 2, 0.1};
};

/// The same in blocks of two: the bounds are attained with the number of blocks for n.
class BlockNoise : public Problem {
 public:
  std::size_t size() const override { return 4; }
  std::size_t block_size() const override { return 2; }
  Vector start() const override { return {2, 1, -1, 0.5}; }

  void sample(ConstSpan /*x*/, Noise& noise, Span d) const override {
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = kScale[i] * noise.normal();
  }
  bool moments(ConstSpan /*x*/, Span mean, Span second) const override {
    for (double& value : mean) value = 0;
    for (std::size_t k = 0; k < second.size(); ++k) {
      second[k] = squared_norm(ConstSpan(kScale).subspan(2 * k, 2));
    }
    return true;
  }
  std::optional<Vector> target(double /*lambda*/) const override { return Vector(size(), 0.0); }

 private:
  static inline const Vector kScale = {1, 0.5, 2, 0.1};
};

const RegisterProblem registered{
    {"P0", "pure noise: d = s z", [] { return std::make_unique<PureNoise>(); }}};
const RegisterProblem blocks{
    {"P0b", "the same in blocks of two", [] { return std::make_unique<BlockNoise>(); }}};

}  // namespace
}  // namespace bcos::lab::theory
