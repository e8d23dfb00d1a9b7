#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bcos/update.hpp"
#include "lab/bench/arrays.hpp"

namespace bcos::lab::bench {

/// A list of float32 or float64 tensors with everything a method needs, ready to be stepped.
class StepRunner {
 public:
  struct Options {
    int threads = 1;
    StepOptions step = {};
    std::uint64_t seed = 1;
  };

  StepRunner(const Method& method, DType dtype,
             const std::vector<std::vector<std::int64_t>>& shapes, const Options& options);

  void step();

  std::uint64_t elements() const { return elements_; }
  double bytes_per_parameter() const;

 private:
  struct Tensor {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> blocks;
    std::vector<Array> arrays;  ///< large ones; small ones are in the arenas
  };
  TensorView take(Tensor& tensor, Arena& arena, std::uint64_t elements, std::uint64_t seed,
                  bool filled);

  DType dtype_;
  std::uint64_t elements_ = 0;
  std::vector<Arena> arenas_;  ///< of x, g, m, v, u
  std::vector<Tensor> tensors_;
  std::vector<Gradient> gradients_;
  std::vector<std::uint64_t> steps_;
  StepOptions options_;
  std::uint64_t bytes_ = 0;
  std::optional<Plan> plan_;
};

/// The streams of a method on one array, with trivial arithmetic: what memory allows.
class LimitRunner {
 public:
  LimitRunner(const Method& method, DType dtype, std::uint64_t elements, int threads);
  void step();

 private:
  template <class T>
  void step_in();

  DType dtype_;
  std::uint64_t elements_;
  int threads_;
  StateKinds kinds_;
  std::vector<Array> arrays_;
};

}  // namespace bcos::lab::bench
