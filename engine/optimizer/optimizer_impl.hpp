#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bcos/optimizer.hpp"
#include "engine/optimizer/state_buffer.hpp"
#include "engine/optimizer/state_file.hpp"

namespace bcos {

struct OwnedParameter {
  std::string name;
  void* x = nullptr;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::size_t group = 0;
  std::uint64_t elements = 0;
  std::int64_t blocks[1] = {0};
  StateBuffer m, v, u;
};

class Optimizer::Impl {
 public:
  explicit Impl(const OptimizerOptions& options) : options_(options) {}

  GroupId add_group(const Method& method, const MethodOptions& options);
  ParameterId add(std::string name, const TensorView& x, GroupId group);
  void move(ParameterId id, void* data);
  StepReport step(std::span<const double> alphas, std::span<const ParameterGradient> gradients,
                  double grad_scale);
  void set_numbers(GroupId group, const Method& changed);
  void set_steps(ParameterId id, std::uint64_t steps);

  const Method& checked(GroupId group, std::string_view where) const;
  const OwnedParameter& checked(ParameterId id, std::string_view where) const;
  ParameterId find(std::string_view name) const;
  ParameterState state(ParameterId id) const;
  std::uint64_t state_bytes() const;

  // optimizer_files.cc
  void save(const std::string& path) const;
  void load(const std::string& path, const LoadOptions& options);
  void convert(const std::string& path);

  std::vector<Method> groups_;
  std::vector<OwnedParameter> parameters_;
  OptimizerOptions options_;
  std::uint64_t skipped_steps_ = 0;
  std::vector<double> alphas_;

 private:
  struct Incoming;
  struct Extent {
    std::uintptr_t end;
    std::size_t parameter;
  };

  PlanOptions plan_options() const { return {options_.executor, options_.target}; }
  static Parameter view_of(const OwnedParameter& parameter, std::size_t group);
  /// Where parameter `index` lies, if dense. Throws if one that memory_ knows lies there.
  std::map<std::uintptr_t, Extent> memory_of(const OwnedParameter& parameter,
                                             std::size_t index) const;
  void find_memory();
  void make_plan();

  StateFileHeader header() const;
  /// The file's entries in the order of our parameters; names, shapes and dtypes agree.
  std::vector<const StateFileHeader::Entry*> matched(const StateFileHeader& header,
                                                     const std::string& path) const;
  Incoming read(const safetensors::File& file, std::string_view state, const OwnedParameter& p,
                const StateBuffer& to, std::span<const std::int64_t> shape) const;
  /// What a file gives, once all of it was read and found good.
  void take(const std::vector<Incoming>& states,
            std::span<const StateFileHeader::Entry* const> entries, std::uint64_t skipped_steps);

  std::optional<Plan> plan_;
  std::vector<Gradient> gradients_;
  std::vector<std::uint64_t> steps_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::map<std::uintptr_t, Extent> memory_;  ///< of the dense parameters, by its begin
  bool moved_ = false;                       ///< since memory_ was found
};

}  // namespace bcos
