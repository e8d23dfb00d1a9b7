#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bcos/method.hpp"
#include "bcos/safetensors.hpp"
#include "lab/diagnosis/reference.hpp"
#include "lab/run/events.hpp"

/// The kinds of diagnosis, for Diagnosis alone.
namespace bcos::lab::diagnosis {

/// The tensors of a model in groups; group 0 is all of them.
struct DiagnosedModel {
  explicit DiagnosedModel(std::vector<DiagnosedTensor> list);

  std::vector<DiagnosedTensor> tensors;
  std::vector<std::string> groups;    ///< "all", then in order of appearance
  std::vector<std::size_t> group_of;  ///< of each tensor, > 0
  std::uint64_t elements = 0;
  bool momentum = false;  ///< d is a moving average of g, by beta
  double beta = 0;

  /// f(i) of every tensor, added up in each group.
  template <class Sum, class F>
  std::vector<Sum> sums(F f) const {
    std::vector<Sum> result(groups.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Sum one = f(i);
      result[group_of[i]] += one;
      result[0] += one;
    }
    return result;
  }
};

/// What a step did to one tensor; all spans are as long as x.
struct TensorStep {
  std::span<const float> before;  ///< x
  std::span<const float> after;
  std::span<const float> g, d, v;  ///< as in Tap; zeros where there was no gradient
};

struct SeenStep {
  std::uint64_t step = 0;
  double alpha = 0;
  bool bad = false;  ///< nothing was changed, and the tensors say nothing
  bool due = false;  ///< of those that are reported
  std::span<const TensorStep> tensors;
};

class Diagnoser {
 public:
  virtual ~Diagnoser() = default;
  virtual void see(const SeenStep& step) = 0;
  /// Puts what a resumed run needs into a file: tensors that stay where they are, and facts.
  virtual void save(std::vector<safetensors::TensorData>& tensors,
                    nlohmann::ordered_json& facts) const = 0;
  /// The run goes on after `done` steps. Takes back what was saved; false: that is not there, and
  /// it begins anew.
  virtual bool load(const safetensors::File& file, const nlohmann::ordered_json& facts,
                    std::uint64_t done) = 0;
  virtual void begin_anew(std::uint64_t done) = 0;
  virtual std::string_view kind() const = 0;
  virtual std::uint64_t state_bytes() const = 0;
  virtual void end() {}
};

using TellDiagnosis = std::function<void(const run::DiagnosisEvent&)>;
using TellUser = std::function<void(const std::string&)>;

/// Cosines and margins of g, m, D and the step to x - x_ref; without a reference x_ref is the last
/// iterate, and the steps that are due are kept in "<directory>/diagnosis" until the run ends.
struct AimingOptions {
  std::optional<Reference> reference;
  bool own_end = true;  ///< the reference is the end of this very trajectory
  std::string directory;
  std::uint64_t every = 1;
  std::uint64_t steps = 0;  ///< of the run
  TellDiagnosis tell;
  TellUser notice;
};
std::unique_ptr<Diagnoser> aiming_diagnoser(const DiagnosedModel& model, AimingOptions options);

/// The signal fraction of the gradient, and the amplification of the steps.
std::unique_ptr<Diagnoser> signal_diagnoser(const DiagnosedModel& model, TellDiagnosis tell);

/// Reads a tensor of a file into memory of its size; false if the file has none such.
template <class T>
bool read_tensor(const safetensors::File& file, const std::string& name, std::span<T> out) {
  const safetensors::TensorInfo* info = file.find(name);
  if (info == nullptr || info->end - info->begin != out.size_bytes()) return false;
  file.read(*info, std::as_writable_bytes(out));
  return true;
}

}  // namespace bcos::lab::diagnosis
