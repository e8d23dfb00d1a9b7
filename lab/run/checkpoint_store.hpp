#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bcos::lab::run {

/// A complete checkpoint whose checksums have been compared.
struct Checkpoint {
  std::uint64_t step = 0;
  std::string path;  ///< its directory
  nlohmann::ordered_json facts;

  std::string file(const std::string& name) const { return path + "/" + name; }
};

/// A file of a checkpoint: its name, and what writes it at a path.
struct NamedFileWriter {
  std::string name;
  std::function<void(const std::string& path)> write;
};

/// The checkpoint in a directory, wherever that has been copied to. Throws Error(corrupt) if it is
/// damaged, Error(mismatch) if its format is newer, Error(io).
Checkpoint read_checkpoint(const std::string& path);

/// Of the checkpoints in a directory, the one of the highest step that is whole, or nothing. Each
/// damaged one that was passed over adds a sentence to `complaints`: nothing, with complaints,
/// means that all are damaged. Throws Error(mismatch) rather than pass over a newer format.
/// Changes nothing, so that anyone may look at a run.
std::optional<Checkpoint> latest_checkpoint(const std::string& directory,
                                            std::vector<std::string>& complaints);

/// The same among those that were saved as the best so far.
std::optional<Checkpoint> best_checkpoint(const std::string& directory,
                                          std::vector<std::string>& complaints);

/// The checkpoints of a run, for the process that owns it:
///
///     checkpoints/step-00000100/manifest.json model.safetensors ...
///
/// A checkpoint appears under its name wholly or not at all, also when the process or the machine
/// dies in between, and older ones are removed only when it is there.
class CheckpointStore {
 public:
  /// Makes the directory if need be (its parent must exist) and removes what processes that died
  /// have left half written or half removed; that of living ones stays. Keeps the last `keep`
  /// checkpoints, 1 or more, and the best.
  CheckpointStore(std::string directory, int keep);

  /// Saves a checkpoint by calling the writers in turn. `bytes` is how much they will write, if
  /// known: where the file system has less, nothing is begun. `best` marks the best so far.
  ///
  /// Throws Error(invalid_argument) if there is an intact checkpoint of this step or a later one,
  /// Error(io), and what the writers throw. Unless the error says that the step is saved, the
  /// checkpoints are those from before.
  void save(std::uint64_t step, std::span<const NamedFileWriter> files,
            const nlohmann::ordered_json& facts, bool best, std::uint64_t bytes = 0);

  /// Marks a checkpoint that is there as the best so far: a run that stopped before an evaluation
  /// learns only later what it had saved. Throws Error(io), Error(corrupt), Error(mismatch).
  void mark_best(std::uint64_t step) const;

  std::optional<Checkpoint> latest(std::vector<std::string>& complaints) const;

  const std::string& directory() const { return directory_; }

 private:
  void remove_leftovers() const;
  void refuse_step_taken(std::uint64_t step) const;
  void check_space(std::uint64_t step, std::uint64_t bytes) const;
  std::string commit(const std::string& temporary, std::uint64_t step) const;
  void remove_old(std::uint64_t saved) const;
  std::string set_aside(const std::string& path) const;

  std::string directory_;
  int keep_;
};

}  // namespace bcos::lab::run
