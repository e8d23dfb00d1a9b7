#include <cmath>
#include <numbers>

#include "lab/theory/numerics.hpp"
#include "lab/theory/problem.hpp"

namespace bcos::lab::theory {
namespace {

/// Root finding as Robbins and Monro had it: a trial at dose x succeeds or not, d = 1{xi <= x} - q,
/// and the dose is sought at which a share q of them do. xi is normal with mean 1 and sd 2.
class Quantile : public Problem {
 public:
  std::size_t size() const override { return 1; }
  Vector start() const override { return {8}; }
  double lambda() const override { return 0.1; }

  void sample(ConstSpan x, Noise& noise, Span d) const override {
    d[0] = (kMean + kSd * noise.normal() <= x[0] ? 1.0 : 0.0) - kShare;
  }
  bool moments(ConstSpan x, Span mean, Span second) const override {
    const double success = below(x[0]);
    mean[0] = success - kShare;
    second[0] = success * (1 - 2 * kShare) + kShare * kShare;
    return true;
  }
  /// phi increases with x, so that its sum with lambda x has one zero, and aiming holds there.
  std::optional<Vector> target(double lambda) const override {
    const auto pull = [&](double x) {
      Vector mean(1);
      Vector second(1);
      moments(Vector{x}, mean, second);
      return mean[0] / std::sqrt(second[0]) + lambda * x;
    };
    return Vector{increasing_root(pull, kMean - 20 * kSd, kMean + 20 * kSd)};
  }

 private:
  static double below(double x) {
    return std::erfc(-(x - kMean) / (kSd * std::numbers::sqrt2)) / 2;
  }
  static constexpr double kShare = 0.8;
  static constexpr double kMean = 1;
  static constexpr double kSd = 2;
};

const RegisterProblem registered{{"P6",
                                  "root finding: the dose at which four of five trials succeed",
                                  [] { return std::make_unique<Quantile>(); }}};

}  // namespace
}  // namespace bcos::lab::theory
