#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "bcos/backend.hpp"
#include "engine/update/host.hpp"

namespace bcos {

class Plan::Impl {
 public:
  explicit Impl(const PlanOptions& options);

  std::size_t add_group(const Method& method);
  std::size_t add(const Parameter& parameter);
  void move(std::size_t index, const Parameter& to);
  void set_numbers(std::size_t group, const Method& method);
  StepReport update(std::span<const Gradient> gradients, std::span<const double> alphas,
                    std::span<std::uint64_t> steps, const StepOptions& options);

  std::size_t groups() const { return methods_.size(); }
  std::size_t parameters() const { return entries_.size(); }
  const Method& method(std::size_t group) const;
  Parameter parameter(std::size_t index) const;
  Target target() const { return target_; }

 private:
  /// A parameter with memory for the shapes and strides that it views; they stay when this moves.
  class Kept {
   public:
    explicit Kept(const Parameter& given);
    const Parameter& view() const { return view_; }

   private:
    TensorView keep(const TensorView& given, std::size_t which);
    std::vector<std::int64_t> dims_[4][2];  // shapes and strides of x, m, v and u
    Parameter view_;
  };
  /// What a step needs of a parameter.
  struct Entry {
    std::uint32_t backend;
    std::uint32_t group;
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

  void check_call(std::span<const Gradient> gradients, std::span<const double> alphas,
                  std::span<const std::uint64_t> steps, const StepOptions& options) const;
  void list_items(std::span<const Gradient> gradients, StepReport& report);
  double gradient_factor(const StepOptions& options, StepReport& report);
  double sum_of_squares(double scale);
  void leave_unstarted(std::span<const double> alphas, std::span<const std::uint64_t> steps);
  void find_numbers(std::span<const double> alphas, std::span<const std::uint64_t> steps,
                    double factor);

  const Target target_;
  Extents written_;
  HostBackend<float> f32_;
  HostBackend<double> f64_;
  std::deque<Method> methods_;
  std::deque<Kept> kept_;
  std::deque<std::string> names_;
  std::deque<std::string> labels_;  ///< what messages call parameters
  std::vector<Entry> entries_;
  std::vector<Share> shares_;  ///< of f32_, f64_ and the caller's backends
  std::vector<double> squares_;
  std::vector<StepNumbers> numbers_;
};

}  // namespace bcos
