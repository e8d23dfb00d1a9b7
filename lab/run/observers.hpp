#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "lab/run/events.hpp"
#include "lab/run/run_directory.hpp"

namespace bcos::lab::run {

/// The observers of a run. Each is made here and known to nobody else.

/// config.toml once the run begins (one whose data cannot be opened leaves none behind), run.json
/// at the beginning and the end, and a line of metrics.jsonl for every step and evaluation.
/// `notice` is told if the run goes on with other numerics than it had.
std::unique_ptr<Observer> metrics_observer(RunDirectory& directory, std::string config,
                                           std::function<void(const std::string&)> notice);

/// TensorBoard event files in the run's folder.
std::unique_ptr<Observer> tensorboard_observer();

/// Checkpoints every so many steps and at the end. The best is the one of them with the least
/// validation loss just before it; `best` is that loss among those that a resumed run has saved.
std::unique_ptr<Observer> checkpoint_observer(std::uint64_t every,
                                              std::optional<double> best = std::nullopt);

enum class Voice {
  bar,    ///< a terminal: facts, a bar, a line an evaluation
  lines,  ///< a pipe: facts, llm.c's step lines
  quiet,  ///< nothing
};
/// What a person sees of the run, on standard output (facts, lines) and standard error (the bar).
std::unique_ptr<Observer> console_observer(Voice voice, std::uint64_t log_every);

}  // namespace bcos::lab::run
