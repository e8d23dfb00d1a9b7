#pragma once

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "bcos/backend.hpp"
#include "engine/update/host.hpp"

namespace bcos {

/// What a plan knows. A step (plan_step.cc) goes through the functions in their order here.
class Plan::Impl {
 public:
  explicit Impl(const PlanOptions& options);

  StepReport update(std::span<const Gradient> gradients, std::span<const double> alphas,
                    std::span<std::uint64_t> steps, const StepOptions& options);
  void check_call(std::span<const Gradient> gradients, std::span<const double> alphas,
                  std::span<const std::uint64_t> steps, const StepOptions& options) const;
  void list_items(std::span<const Gradient> gradients, StepReport& report);
  double gradient_factor(const StepOptions& options, StepReport& report);
  double sum_of_squares(double scale);
  void find_numbers(std::span<const double> alphas, std::span<const std::uint64_t> steps,
                    double factor);
  void leave_unstarted(std::span<const double> alphas, std::span<const std::uint64_t> steps);

  /// Where a parameter lies, with memory for the shapes and strides that are viewed: of x, m, v, u.
  struct Kept {
    explicit Kept(const Parameter& given);
    Parameter view;
    std::array<std::vector<std::int64_t>, 8> dims;
  };
  struct Known {
    std::string name;
    std::string label;  ///< what messages call it
    Kept kept;
  };
  /// What a step needs of a parameter.
  struct Entry {
    std::size_t backend;
    std::size_t group;
    Place place;
    std::uint64_t elements;
    DType dtype;
  };
  /// The parameters of one backend in the step at hand.
  struct Share {
    Backend* backend;
    std::vector<Item> items = {};
    std::vector<std::size_t> parameters = {};
    std::vector<double> squares = {};
  };

  const Target target;
  Extents written;
  HostBackend<float> f32;
  HostBackend<double> f64;
  std::vector<Share> shares;  ///< of f32, f64 and the caller's backends
  std::deque<Method> methods;
  std::deque<Known> known;
  std::vector<Entry> entries;
  std::vector<double> squares;
  std::vector<StepNumbers> numbers;
};

}  // namespace bcos
