#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "engine/safetensors/file_io.hpp"

namespace bcos::lab::run {

/// What a run directory is expected to hold when it is opened.
enum class Expected {
  anything,
  a_run,  ///< one to go on with: it has a config.toml
};

/// A run's directory and the right to write in it, which one process has at a time. The right ends
/// with the object, or with the process however it dies.
class RunDirectory {
 public:
  /// Makes the directory, and the one that it is in, if need be; what is above must exist. Takes
  /// "<path>/lock". Throws Error(io) that names the owner if there is one, the parent that is
  /// missing or cannot be written; Error(mismatch) if there is not what is expected.
  static RunDirectory open(const std::string& path, Expected expected = Expected::anything);

  ~RunDirectory();
  RunDirectory(RunDirectory&&) noexcept = default;
  RunDirectory& operator=(RunDirectory&&) = delete;

  const std::string& path() const { return path_; }
  /// "<path>/<name>".
  std::string file(std::string_view name) const;

  /// config.toml and run.json: replaced wholly or not at all.
  void write_config(std::string_view toml);
  void write_facts(const nlohmann::ordered_json& facts);

  /// What run.json says; nothing if it is not there or cannot be read.
  nlohmann::ordered_json read_facts() const;

  /// Adds a line to metrics.jsonl by one write. What a crash has cut is first ended by a newline,
  /// so that it costs a reader one line. NaN and infinities become null. Throws Error(io).
  void append_metrics(const nlohmann::ordered_json& line);
  /// Forces the lines to disk, so that none is missing below a checkpoint after a power loss.
  void force_metrics();

 private:
  RunDirectory(std::string path, safetensors::Descriptor lock);
  void check(Expected expected) const;
  void remove_leftovers() const;
  void write_file(std::string_view name, std::string_view text) const;
  void open_metrics();

  std::string path_;
  safetensors::Descriptor lock_;
  safetensors::Descriptor metrics_;
  bool cut_ = false;  // the last line of metrics.jsonl has no end
};

}  // namespace bcos::lab::run
