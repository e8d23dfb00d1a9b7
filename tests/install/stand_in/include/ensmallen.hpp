// As much of Armadillo and ensmallen as examples/ensmallen calls, called in the order of the real
// one.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace arma {

template <typename T>
struct Mat {
  using elem_type = T;
  Mat(std::size_t rows, std::size_t cols)
      : n_rows(rows), n_cols(cols), n_elem(rows * cols), values(rows * cols) {}
  T& operator[](std::size_t i) { return values[i]; }
  const T& operator[](std::size_t i) const { return values[i]; }
  T* memptr() { return values.data(); }
  const T* memptr() const { return values.data(); }
  std::size_t n_rows, n_cols, n_elem;
  std::vector<T> values;
};
using mat = Mat<double>;
using fmat = Mat<float>;

}  // namespace arma

namespace ens {

template <typename UpdatePolicyType>
class SGD {
 public:
  SGD(double stepSize, std::size_t batchSize, std::size_t maxIterations, double tolerance,
      bool shuffle, const UpdatePolicyType& updatePolicy)
      : stepSize(stepSize),
        batchSize(batchSize),
        maxIterations(maxIterations),
        policy(updatePolicy) {
    (void)tolerance;
    (void)shuffle;
  }
  double& StepSize() { return stepSize; }
  bool& ResetPolicy() { return resetPolicy; }

  template <typename FunctionType, typename MatType>
  typename MatType::elem_type Optimize(FunctionType& function, MatType& iterate) {
    using Policy = typename UpdatePolicyType::template Policy<MatType, MatType>;
    if (resetPolicy || !instance) {
      instance = std::make_shared<Policy>(policy, iterate.n_rows, iterate.n_cols);
    }
    MatType gradient(iterate.n_rows, iterate.n_cols);
    for (std::size_t i = 0; i < maxIterations; i += batchSize) {
      function.EvaluateWithGradient(iterate, i % function.NumFunctions(), gradient, batchSize);
      static_cast<Policy*>(instance.get())->Update(iterate, stepSize, gradient);
    }
    return function.Evaluate(iterate, 0, function.NumFunctions());
  }

 private:
  double stepSize;
  std::size_t batchSize, maxIterations;
  UpdatePolicyType policy;
  bool resetPolicy = true;
  std::shared_ptr<void> instance;
};

}  // namespace ens
