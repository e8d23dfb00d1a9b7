// Fits a plane to points with ens::SGD and bcos, in double and in float.
#include <cmath>
#include <cstdio>
#include <ensmallen.hpp>
#include <stdexcept>
#include <string>

#include "bcos_update.hpp"

// The sum over points of (a x + b y + c - z)^2, where z = 2 x - y + 0.5.
class Plane {
 public:
  std::size_t NumFunctions() const { return 64; }
  void Shuffle() {}

  template <typename MatType>
  typename MatType::elem_type EvaluateWithGradient(const MatType& plane, std::size_t begin,
                                                   MatType& gradient, std::size_t count) {
    using Number = typename MatType::elem_type;
    Number sum = 0;
    for (std::size_t i = 0; i < 3; ++i) gradient[i] = 0;
    for (std::size_t k = begin; k < begin + count; ++k) {
      const Number x = std::sin(Number(k)), y = std::cos(Number(3 * k));
      const Number error = (plane[0] - 2) * x + (plane[1] + 1) * y + plane[2] - Number(0.5);
      sum += error * error;
      gradient[0] += 2 * error * x;
      gradient[1] += 2 * error * y;
      gradient[2] += 2 * error;
    }
    return sum;
  }
  template <typename MatType>
  typename MatType::elem_type Evaluate(const MatType& plane, std::size_t begin, std::size_t count) {
    MatType gradient(3, 1);
    return EvaluateWithGradient(plane, begin, gradient, count);
  }
};

template <typename MatType>
bool fits() {
  Plane plane;
  MatType at(3, 1);
  for (std::size_t i = 0; i < 3; ++i) at[i] = 0;
  ens::SGD<BcosUpdate> optimizer(0.1, 16, 6400, -1, false, BcosUpdate("bcos_c"));
  optimizer.ResetPolicy() = false;
  // At a constant alpha it would hover at a distance of about alpha: each round takes a tenth of it
  // and goes on, in another matrix.
  for (int round = 0; round < 4; ++round) {
    MatType next(at);
    optimizer.Optimize(plane, next);
    at = next;
    optimizer.StepSize() /= 10;
  }
  std::printf("%.4f x + %.4f y + %.4f\n", double(at[0]), double(at[1]), double(at[2]));
  return std::abs(at[0] - 2) + std::abs(at[1] + 1) + std::abs(at[2] - 0.5) < 1e-3;
}

int main() {
  if (!fits<arma::mat>() || !fits<arma::fmat>()) return 1;
  try {
    Plane plane;
    arma::mat at(3, 1);
    ens::SGD<BcosUpdate>(0.1, 16, 64, -1, false, BcosUpdate("AdamW")).Optimize(plane, at);
    return 1;
  } catch (const std::runtime_error& error) {
    return std::string(error.what()).find("did you mean 'adamw'?") == std::string::npos;
  }
}
