#pragma once

#include <functional>
#include <span>
#include <string>

#include "lab/run/checkpoint_store.hpp"
#include "lab/run/events.hpp"
#include "lab/run/settings.hpp"

/// Training on LibTorch, behind a header that does not know it.
namespace bcos::lab::loop {

struct TrainRequest {
  run::Settings settings;
  std::string name;
  std::string directory;
  run::CheckpointStore* checkpoints = nullptr;
  std::span<run::Observer* const> observers = {};
  /// Asked between steps, between the parts of a step and between the batches of an evaluation;
  /// true ends the run after a checkpoint.
  std::function<bool()> stop_requested = [] { return false; };
  /// Called before a checkpoint appears: what was written of the steps before is forced to disk.
  std::function<void()> before_save = [] {};
  /// Is given sentences for the user: what was found damaged, where the run goes on.
  std::function<void(const std::string&)> notice = [](const std::string&) {};
};

/// Trains from the latest checkpoint, or from the beginning if there is none. The result is a
/// function of the settings alone: the same bits whether or not a run was interrupted.
run::Outcome train(const TrainRequest& request);

/// Opens the data and makes the model as train() does, and throws what that would throw.
void check_start(const run::Settings& settings);

struct SampleRequest {
  std::string checkpoint;  ///< a step directory
  std::string bpe;         ///< GPT-2's folder, for a model of bare tokens
  std::string prompt;
  std::uint64_t count = 500;
  double temperature = 0.8;
  std::uint64_t top_k = 0;  ///< 0: all
  std::uint64_t seed = 0;
};

/// Text that a trained GPT writes after the prompt.
std::string sample(const SampleRequest& request);

/// Writes the weights of a trained GPT in Hugging Face's names, for other programs. Returns the
/// config.json that they need beside them.
std::string export_gpt2(const std::string& checkpoint, const std::string& path);

}  // namespace bcos::lab::loop
