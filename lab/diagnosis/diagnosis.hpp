#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bcos/update.hpp"
#include "lab/diagnosis/diagnoser.hpp"
#include "lab/run/settings.hpp"

namespace bcos::lab::diagnosis {

/// What a run is diagnosed by; see Settings::diagnose.
struct DiagnosisOptions {
  const run::Settings& settings;
  std::uint64_t steps = 0;      ///< of the run
  nlohmann::ordered_json data;  ///< of the run, as its checkpoints have it
  std::string directory;        ///< of the run
  std::function<void(const run::DiagnosisEvent&)> tell;
  std::function<void(const std::string&)> notice;
};

/// Looks at a run of training and changes nothing in it: the weights are the same bits with it and
/// without. Before a step and after it is handed the weights; in between the optimizer leaves what
/// it used in the taps.
class Diagnosis {
 public:
  /// Throws Error if the reference of the settings cannot be read or is of another model.
  Diagnosis(const DiagnosisOptions& options, std::vector<DiagnosedTensor> tensors);
  ~Diagnosis();

  /// One a tensor, in the order given; they stay where they are.
  std::span<const Tap> taps() const { return taps_; }

  /// The run begins, or goes on after `done` steps; `file` is what save() wrote there, if it is
  /// there. What cannot be gone on with begins anew, and the user is told.
  void begin(std::uint64_t done, const std::string& file);

  void before_step();
  /// `bad`: nothing was changed.
  void after_step(std::uint64_t step, double alpha, bool bad);

  void save(const std::string& path) const;
  std::uint64_t state_bytes() const;  ///< of what save() writes, about

  /// The run is over, and the weights are the last ones.
  void end();

 private:
  struct Buffers;

  DiagnosisOptions options_;
  DiagnosedModel model_;
  std::uint64_t every_;
  std::vector<Buffers> buffers_;
  std::vector<TensorStep> seen_;
  std::vector<Tap> taps_;
  std::vector<std::unique_ptr<Diagnoser>> diagnosers_;
};

}  // namespace bcos::lab::diagnosis
