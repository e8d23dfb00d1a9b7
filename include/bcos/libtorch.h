#pragma once

/// BCOS for LibTorch: the optimizer, and learning-rate schedules with warm-up.
///
///   bcos::libtorch::BCOS optimizer(model->parameters(), bcos::libtorch::BCOSOptions(5e-4));
///   bcos::libtorch::ScheduleLR schedule(optimizer, {.curve = bcos::Curve::cosine, ...});
///   ...
///   optimizer.step();
///   schedule.step();

#include <torch/optim/optimizer.h>
#include <torch/optim/schedulers/lr_scheduler.h>
#include <torch/optim/serialize.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bcos/export.hpp"
#include "bcos/methods.hpp"
#include "bcos/schedule.hpp"
#include "bcos/update.hpp"

namespace bcos::libtorch {

/// Options of a parameter group, under the names of the Python package. Everything but lr, guard
/// and max_norm makes up the Method.
struct BCOS_API BCOSOptions : public torch::optim::OptimizerCloneableOptions<BCOSOptions> {
  BCOSOptions(double lr = 5e-4);  // NOLINT: LibTorch makes options from a number

  TORCH_ARG(double, lr) = 5e-4;
  TORCH_ARG(double, beta) = bcosw_c.beta;
  /// c: v from the old momentum and the gradient, no state of its own; m: moving average of m^2;
  /// g: no momentum, moving average of g^2.
  TORCH_ARG(std::string, mode) = "c";
  TORCH_ARG(bool, simple) = false;                            ///< mode c in its simple form
  TORCH_ARG(std::optional<double>, beta_v) = std::nullopt;    ///< default beta; simple: AdamS's
  TORCH_ARG(std::optional<double>, eps) = std::nullopt;       ///< of eps and eps_root, giving one
  TORCH_ARG(std::optional<double>, eps_root) = std::nullopt;  ///< alone sets the other to 0
  TORCH_ARG(double, weight_decay) = bcosw_c.lambda;
  TORCH_ARG(bool, decoupled) = true;
  TORCH_ARG(std::string, blocks) = "coordinate";  ///< or tensor, row, column, heads:N
  TORCH_ARG(std::string, block_gain) = "one";     ///< or sqrt
  TORCH_ARG(std::string, start) = "";             ///< first, zero, zero_corrected; "": the method's
  TORCH_ARG(bool, maximize) = false;
  /// These two are about all gradients of a step: the same in all groups.
  TORCH_ARG(std::optional<double>, max_norm) = std::nullopt;
  TORCH_ARG(std::string, guard) = "propagate";  ///< or skip, raise

 public:
  /// What the options mean. Throws c10::Error if they mean nothing.
  Method method() const;

  void serialize(torch::serialize::InputArchive& archive) override;
  void serialize(torch::serialize::OutputArchive& archive) const override;
  BCOS_API friend bool operator==(const BCOSOptions& one, const BCOSOptions& other);
  double get_lr() const override;
  void set_lr(double lr) override;
};

/// The state of a parameter.
struct BCOS_API BCOSParamState : public torch::optim::OptimizerCloneableParamState<BCOSParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(torch::Tensor, m);  ///< momentum, where the method keeps it
  TORCH_ARG(torch::Tensor, v);  ///< one number a block, dense

 public:
  void serialize(torch::serialize::InputArchive& archive) override;
  void serialize(torch::serialize::OutputArchive& archive) const override;
  BCOS_API friend bool operator==(const BCOSParamState& one, const BCOSParamState& other);
};

/// float32 and float64 parameters on the CPU go through the engine, on torch's own threads; all
/// others through ATen operations, 16-bit ones with float32 state and arithmetic.
class BCOS_API BCOS : public torch::optim::Optimizer {
 public:
  explicit BCOS(const std::vector<torch::optim::OptimizerParamGroup>& param_groups,
                BCOSOptions defaults = {});
  explicit BCOS(std::vector<torch::Tensor> params, BCOSOptions defaults = {});
  ~BCOS() override;

  /// Adds a group with its own options. Called through `Optimizer&`, torch's own function forgets
  /// them.
  void add_param_group(const torch::optim::OptimizerParamGroup& group);

  torch::Tensor step(LossClosure closure = nullptr) override;

  /// torch's archives: parameters by position.
  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

  /// Optimizer files (docs/formats.md), which C++, C and Python share: parameters by name. Loading
  /// refuses any difference of names, shapes, types or methods before anything is changed; numbers
  /// stay those of the options.
  using NamedParameters = torch::OrderedDict<std::string, torch::Tensor>;
  void save_file(const std::string& path, const NamedParameters& names) const;
  void load_file(const std::string& path, const NamedParameters& names);

  /// What the last step did.
  const StepReport& last_report() const;

  /// false: ATen operations everywhere. For tests and comparisons.
  void use_engine(bool yes);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// torch's own threads for the engine, so that there is one pool in the process.
BCOS_API Executor executor();

/// Any schedule of the engine as a learning-rate scheduler: cosine, linear, wsd, steps with
/// milestones, all with warm-up. alpha_max and alpha_min are taken relative to alpha_max: every
/// group follows the curve from its own lr. The first learning rate is set at once; call step()
/// after each step of the optimizer. To resume, make it before the optimizer loads its archive,
/// which has the learning rate of its last step in it, then call set_steps().
class BCOS_API ScheduleLR : public torch::optim::LRScheduler {
 public:
  ScheduleLR(torch::optim::Optimizer& optimizer, Schedule schedule);

  /// Steps taken, to resume: set_steps goes to any place of the schedule.
  std::uint64_t steps() const { return step_count_; }
  void set_steps(std::uint64_t steps);

 private:
  std::vector<double> get_lrs() override;
  std::vector<double> lrs_at(std::uint64_t t) const;

  torch::optim::Optimizer& scheduled_;
  Schedule schedule_;
  std::vector<double> peaks_;
};

}  // namespace bcos::libtorch
