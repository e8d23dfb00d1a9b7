#include "lab/run/checkpoint_store.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <set>
#include <string_view>

#include "engine/error.hpp"
#include "engine/safetensors/atomic_file.hpp"
#include "lab/run/checkpoint_manifest.hpp"
#include "lab/run/file_system.hpp"

namespace bcos::lab::run {
namespace {

using Json = nlohmann::ordered_json;
using safetensors::Descriptor;
using safetensors::system_calls;

constexpr std::string_view kFunction = "checkpoint";
constexpr std::string_view kStep = "step-";
constexpr std::string_view kTemporary = safetensors::AtomicFile::kTemporary;
constexpr std::string_view kTrash = ".trash-";

std::string step_name(std::uint64_t step) { return fmt::format("{}{:08}", kStep, step); }

std::optional<std::uint64_t> step_of(std::string_view name) {
  if (!name.starts_with(kStep)) return {};
  std::uint64_t step = 0;
  std::from_chars(name.data() + kStep.size(), name.data() + name.size(), step);
  return name == step_name(step) ? std::optional(step) : std::nullopt;
}

/// The process that a half-written or half-removed checkpoint belongs to.
std::optional<pid_t> owner_of(std::string_view name) {
  const bool temporary = name.starts_with(kStep) && name.find(kTemporary) != name.npos;
  if (!temporary && !name.starts_with(kTrash)) return {};
  const std::string_view number = name.substr(name.rfind('-') + 1);
  pid_t process = 0;
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), process);
  const bool whole = code == std::errc() && end == number.data() + number.size() && process > 0;
  return whole ? std::optional(process) : std::nullopt;
}

/// The steps that have a directory, the highest first.
std::vector<std::uint64_t> steps_in(const std::string& directory) {
  std::vector<std::uint64_t> steps;
  for (const std::string& name : names_in(kFunction, directory)) {
    if (const auto step = step_of(name)) steps.push_back(*step);
  }
  std::ranges::sort(steps, std::greater());
  return steps;
}

std::string path_of(const std::string& directory, std::uint64_t step) {
  return fmt::format("{}/{}", directory, step_name(step));
}

Manifest read_step(const std::string& directory, std::uint64_t step) {
  const std::string path = path_of(directory, step);
  Manifest manifest = read_complete(path);
  if (manifest.step != step) {
    throw fail(ErrorCode::corrupt, kFunction,
               "expected the checkpoint of step {} but received that of step {} in '{}'", step,
               manifest.step, path);
  }
  return manifest;
}

/// The highest step that is intact and, if asked, was the best.
std::optional<Checkpoint> highest(const std::string& directory, bool best,
                                  std::vector<std::string>& complaints) {
  if (!exists(directory)) return {};
  for (const std::uint64_t step : steps_in(directory)) {
    const std::string path = path_of(directory, step);
    try {
      Manifest manifest = read_step(directory, step);
      if (best && !manifest.best) continue;
      verify_files(manifest, path);
      return Checkpoint{step, path, std::move(manifest.facts)};
    } catch (const Error& error) {
      if (error.code() == ErrorCode::mismatch) throw;
      complaints.emplace_back(error.what());
    }
  }
  return {};
}

bool is_intact(const std::string& directory, std::uint64_t step) {
  try {
    verify_files(read_step(directory, step), path_of(directory, step));
  } catch (const Error& error) {
    // What a newer program wrote may well be intact.
    return error.code() == ErrorCode::mismatch;
  }
  return true;
}

/// A directory that is removed with all that is in it, unless it is kept.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(std::string path) : path_(std::move(path)) {
    if (exists(path_)) remove_tree(kFunction, path_);
    make_directory(kFunction, path_);
  }
  ~TemporaryDirectory() {
    if (path_.empty()) return;
    try {
      remove_tree(kFunction, path_);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the next start removes it
    }
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  void keep() { path_.clear(); }

 private:
  std::string path_;
};

Manifest::File write_file(const NamedFileWriter& file, const std::string& directory) {
  const std::string path = directory + "/" + file.name;
  file.write(path);
  Manifest::File result{.name = file.name};
  const Descriptor written = safetensors::open_regular(kFunction, path, result.bytes);
  sync_file(kFunction, written, path);
  result.crc32c = checksum_of(written, result.bytes, path);
  return result;
}

/// Written last; with it, the names of all files in the directory are forced to disk.
void write_manifest(const Manifest& manifest, const std::string& directory) {
  const std::string path = fmt::format("{}/{}", directory, kManifestName);
  const std::string text = manifest_text(manifest);
  parse_manifest(text, path);  // what could not be read again must not be written
  safetensors::AtomicFile output(kFunction, path, text.size());
  output.append(std::as_bytes(std::span(text)));
  output.commit();
}

void check_names(std::span<const NamedFileWriter> files) {
  std::set<std::string> names;
  for (const NamedFileWriter& file : files) {
    check_file_name(file.name);
    if (!names.insert(file.name).second) {
      throw fail(kFunction, "expected different file names but received '{}' twice", file.name);
    }
  }
}

}  // namespace

Checkpoint read_checkpoint(const std::string& path) {
  Manifest manifest = read_complete(path);
  verify_files(manifest, path);
  return {manifest.step, path, std::move(manifest.facts)};
}

std::optional<Checkpoint> latest_checkpoint(const std::string& directory,
                                            std::vector<std::string>& complaints) {
  return highest(directory, false, complaints);
}

std::optional<Checkpoint> best_checkpoint(const std::string& directory,
                                          std::vector<std::string>& complaints) {
  return highest(directory, true, complaints);
}

CheckpointStore::CheckpointStore(std::string directory, int keep)
    : directory_(std::move(directory)), keep_(keep) {
  safetensors::check_path(kFunction, directory_);
  if (keep < 1) {
    throw fail(kFunction, "expected to keep 1 checkpoint or more but received {}", keep);
  }
  if (!exists(directory_)) {
    make_directory(kFunction, directory_);
    sync_directory(kFunction, parent_of(directory_));
  }
  remove_leftovers();
}

std::optional<Checkpoint> CheckpointStore::latest(std::vector<std::string>& complaints) const {
  return latest_checkpoint(directory_, complaints);
}

void CheckpointStore::remove_leftovers() const {
  for (const std::string& name : names_in(kFunction, directory_)) {
    const std::optional<pid_t> owner = owner_of(name);
    // In a container every life of a program may have the same number: ours has left nothing yet.
    const bool dead = owner && (*owner == ::getpid() || !process_lives(*owner));
    if (dead) remove_tree(kFunction, directory_ + "/" + name);
    // A mark_best() that was killed.
    if (step_of(name)) {
      remove_half_written(kFunction, fmt::format("{}/{}/{}", directory_, name, kManifestName));
    }
  }
}

void CheckpointStore::refuse_step_taken(std::uint64_t step) const {
  for (const std::uint64_t other : steps_in(directory_)) {
    if (other < step) break;
    if (!is_intact(directory_, other)) continue;
    throw fail(kFunction,
               "expected a step after the checkpoints that there are but received step {}: '{}' "
               "exists, move it away to go on from an earlier one",
               step, path_of(directory_, other));
  }
}

void CheckpointStore::check_space(std::uint64_t step, std::uint64_t bytes) const {
  const std::uint64_t available = free_bytes(kFunction, directory_);
  if (bytes <= available) return;
  throw fail(ErrorCode::io, kFunction,
             "expected {} free bytes for step {} in '{}' but received {}: make room, or keep "
             "fewer checkpoints",
             bytes, step, directory_, available);
}

void CheckpointStore::save(std::uint64_t step, std::span<const NamedFileWriter> files,
                           const Json& facts, bool best, std::uint64_t bytes) {
  check_names(files);
  refuse_step_taken(step);
  check_space(step, bytes);
  TemporaryDirectory temporary(
      fmt::format("{}{}{}", path_of(directory_, step), kTemporary, ::getpid()));
  Manifest manifest{.step = step, .best = best, .files = {}, .facts = facts};
  for (const NamedFileWriter& file : files) {
    manifest.files.push_back(write_file(file, temporary.path()));
  }
  write_manifest(manifest, temporary.path());
  const std::string damaged = commit(temporary.path(), step);
  temporary.keep();
  try {
    sync_directory(kFunction, directory_);
    if (!damaged.empty()) remove_tree(kFunction, damaged);
    remove_old(step);
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}; step {} is saved", error.what(), step));
  }
}

void CheckpointStore::mark_best(std::uint64_t step) const {
  Manifest manifest = read_step(directory_, step);
  if (manifest.best) return;
  manifest.best = true;
  write_manifest(manifest, path_of(directory_, step));
}

/// Gives the step its name. Returns where a damaged checkpoint of that name has been set aside.
std::string CheckpointStore::commit(const std::string& temporary, std::uint64_t step) const {
  const std::string path = path_of(directory_, step);
  std::string damaged;
  // refuse_step_taken() has seen that nothing intact is here.
  if (exists(path)) damaged = set_aside(path);
  if (system_calls().rename(temporary.c_str(), path.c_str()) != 0) {
    throw safetensors::io_error(kFunction, "rename the temporary directory to", errno, path);
  }
  return damaged;
}

/// Renames to a name that no scan takes for a checkpoint, so that its removal may stop anywhere.
std::string CheckpointStore::set_aside(const std::string& path) const {
  const std::string name = path.substr(path.rfind('/') + 1);
  for (int attempt = 0;; ++attempt) {
    std::string trash = fmt::format("{}/{}{}-{}-{}", directory_, kTrash, name, attempt, ::getpid());
    if (exists(trash)) continue;
    if (system_calls().rename(path.c_str(), trash.c_str()) == 0) return trash;
    throw safetensors::io_error(kFunction, "set aside", errno, path);
  }
}

void CheckpointStore::remove_old(std::uint64_t saved) const {
  int kept = 0;
  bool best_seen = false;
  std::vector<std::string> trash;
  for (const std::uint64_t step : steps_in(directory_)) {
    if (step > saved) continue;
    const bool recent = kept < keep_;
    bool best = false;
    try {
      best = read_step(directory_, step).best && !best_seen;
      ++kept;
    } catch (const Error& error) {
      // A step that cannot be read now, or only by a newer program, may be the best.
      if (error.code() != ErrorCode::corrupt) continue;
    }
    best_seen = best_seen || best;
    if (!recent && !best) trash.push_back(set_aside(path_of(directory_, step)));
  }
  if (trash.empty()) return;
  sync_directory(kFunction, directory_);
  for (const std::string& path : trash) remove_tree(kFunction, path);
}

}  // namespace bcos::lab::run
