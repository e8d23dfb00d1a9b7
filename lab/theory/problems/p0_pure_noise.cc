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

const RegisterProblem registered{
    {"P0", "pure noise: d = s z", [] { return std::make_unique<PureNoise>(); }}};

}  // namespace
}  // namespace bcos::lab::theory
