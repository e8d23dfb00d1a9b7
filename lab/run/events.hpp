#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What happens in a run, and those who are told. The loop knows no more of them than this: bar,
/// metrics, TensorBoard, checkpoints and diagnostics are all observers.
namespace bcos::lab::run {

/// A run as it begins; also what run.json says.
struct RunFacts {
  std::string name;
  std::string directory;
  std::string model;
  std::string data;
  std::string method;
  std::string device = "cpu";
  std::string target;
  int threads = 1;
  std::uint64_t parameters = 0;
  std::uint64_t tensors = 0;
  std::uint64_t decayed_tensors = 0;
  std::uint64_t state_bytes = 0;
  std::uint64_t adamw_state_bytes = 0;
  std::string unit = "token";
  std::uint64_t units_a_step = 0;
  std::uint64_t accumulation = 1;
  std::uint64_t steps = 0;
  std::uint64_t first_step = 0;  ///< > 0 where the run goes on from a checkpoint
  std::uint64_t seed = 0;
  double lr = 0;
  nlohmann::ordered_json data_files;  ///< names, sizes and checksums
  int arithmetic = 1;  ///< raised when the numbers of the loop change for the same settings
};
nlohmann::ordered_json to_json(const RunFacts& facts);

struct StepEvent {
  std::uint64_t step = 0;  ///< counted from 0
  double loss = 0;
  double lr = 0;
  std::optional<double> norm;
  bool clipped = false;
  bool bad = false;             ///< loss or gradient not finite: nothing was changed
  std::uint64_t bad_steps = 0;  ///< so far
  double ms = 0;
  double optimizer_ms = 0;
  double rate = 0;  ///< tokens or images a second
};

struct EvalEvent {
  std::uint64_t step = 0;  ///< steps taken before
  double loss = 0;
  std::optional<double> accuracy;
  bool best = false;
};

/// What a diagnosis found in a group of parameters at a step, in the order to show it.
struct DiagnosisEvent {
  std::uint64_t step = 0;
  std::string kind;   ///< "aiming" or "signal"
  std::string group;  ///< "all", or what the tensors are for
  std::vector<std::pair<std::string, std::optional<double>>> values;
};

enum class Outcome { finished, interrupted, diverged };

/// Writes a checkpoint of the moment.
class Saver {
 public:
  virtual ~Saver() = default;
  virtual void save(bool best) = 0;
  /// What has been saved at this step turns out to be the best so far.
  virtual void mark_best() = 0;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void begin(const RunFacts& /*facts*/) {}
  virtual void step(const StepEvent& /*event*/) {}
  virtual void evaluation(const EvalEvent& /*event*/) {}
  virtual void diagnosis(const DiagnosisEvent& /*event*/) {}
  /// `steps` are done and nothing is in flight. `last`: the run ends here.
  virtual void boundary(std::uint64_t /*steps*/, bool /*last*/, Saver& /*saver*/) {}
  virtual void end(Outcome /*outcome*/, std::uint64_t /*steps*/) {}
};

}  // namespace bcos::lab::run
