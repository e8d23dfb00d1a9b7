#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bcos/optimizer.hpp"
#include "engine/optimizer/state_buffer.hpp"
#include "engine/optimizer/state_file.hpp"

namespace bcos {

/// The plan knows parameters, shapes and groups; the optimizer keeps names, states and counters.
class Optimizer::Impl {
 public:
  explicit Impl(const OptimizerOptions& options)
      : plan_({options.executor, options.target}), options_(options) {}

  GroupId add_group(const Method& method, const MethodOptions& options);
  ParameterId add(std::string name, const TensorView& x, GroupId group);
  void move(ParameterId id, void* data);
  StepReport step(std::span<const double> alphas, std::span<const ParameterGradient> gradients,
                  double grad_scale);
  void set_numbers(GroupId group, const Method& changed);
  void set_steps(ParameterId id, std::uint64_t steps);

  const Method& method(GroupId group, std::string_view where) const;
  Parameter parameter(ParameterId id, std::string_view where) const;
  ParameterId find(std::string_view name) const;
  ParameterState state(ParameterId id) const;
  std::uint64_t state_bytes() const;

  // optimizer_files.cc
  void save(const std::string& path) const;
  void load(const std::string& path, const LoadOptions& options);
  void convert(const std::string& path);

  Plan plan_;
  OptimizerOptions options_;
  std::uint64_t skipped_steps_ = 0;
  std::vector<double> alphas_;

 private:
  struct States {
    StateBuffer m, v, u;
  };
  struct Incoming;

  StateFileHeader header() const;
  /// The file's entries in the order of our parameters; names, shapes and dtypes agree.
  std::vector<const StateFileHeader::Entry*> matched(const StateFileHeader& header,
                                                     const std::string& path) const;
  /// What a file has of one state of parameter i.
  Incoming read(const safetensors::File& file, std::string_view state, std::size_t i,
                const TensorView& to, Dims shape) const;
  /// What a file gives, once all of it was read and found good.
  void take(const std::vector<Incoming>& states,
            std::span<const StateFileHeader::Entry* const> entries, std::uint64_t skipped_steps);

  std::vector<States> states_;
  std::vector<std::uint64_t> steps_;
  std::vector<Gradient> gradients_;
  std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace bcos
