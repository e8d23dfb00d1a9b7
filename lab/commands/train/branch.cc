#include "lab/commands/train/branch.hpp"

#include <filesystem>
#include <sstream>

#include "engine/error.hpp"
#include "lab/cli/files.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/usage.hpp"
#include "lab/run/checkpoint_store.hpp"
#include "lab/run/place.hpp"
#include "lab/run/recipe.hpp"
#include "lab/run/run_directory.hpp"

namespace bcos::lab::commands {
namespace {

namespace fs = std::filesystem;

struct Source {
  std::string run;
  std::optional<std::uint64_t> step;
};

Source source_of(const std::string& text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos) return {text, {}};
  const auto step = cli::whole_of(text.substr(at + 1));
  if (!step) {
    throw cli::misuse("train", "expected --branch as RUN or RUN@STEP but received '{}'", text);
  }
  return {text.substr(0, at), step};
}

/// The steps that a run has checkpoints of, for a message.
std::string steps_in(const std::string& folder) {
  std::string steps;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("step-")) steps += (steps.empty() ? "" : ", ") + name;
  }
  return steps.empty() ? "none" : steps;
}

run::Checkpoint checkpoint_of(const Source& source) {
  const std::string folder = source.run + "/checkpoints";
  if (!source.step) {
    std::vector<std::string> complaints;
    const auto latest = run::latest_checkpoint(folder, complaints);
    if (latest) return *latest;
    throw fail(ErrorCode::io, "train", "expected a run with a checkpoint but '{}' has none{}",
               source.run, complaints.empty() ? "" : ": " + complaints.front());
  }
  const std::string path = fmt::format("{}/step-{:08}", folder, *source.step);
  if (fs::exists(path)) return run::read_checkpoint(path);
  throw fail(ErrorCode::io, "train", "expected a checkpoint of step {} but '{}' has: {}",
             *source.step, folder, steps_in(folder));
}

void check_model(const run::Settings& settings, const Source& source) {
  const std::string other = run::other_model(settings, run::settings_in(source.run));
  if (other.empty()) return;
  throw fail(ErrorCode::mismatch, "train",
             "expected the model of '{}' to branch from it but received another {}", source.run,
             other);
}

/// Lines of steps before this one; what cannot be read stays where it was.
std::string metrics_below(const std::string& run, std::uint64_t step) {
  const std::string path = run + "/metrics.jsonl";
  if (!fs::exists(path)) return {};
  std::istringstream lines(cli::read_text(path));
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const auto object = nlohmann::json::parse(line, nullptr, false);
    const bool known = object.is_object() && object.contains("s") && object["s"].is_number();
    if (known && object["s"] < step) kept += line + "\n";
  }
  return kept;
}

}  // namespace

void branch_from(const std::string& from, const run::Settings& settings) {
  const std::string path = run::directory_of(settings);
  if (fs::exists(run::config_of(path))) return;
  const Source source = source_of(from);
  const run::Checkpoint checkpoint = checkpoint_of(source);
  check_model(settings, source);
  cli::make_folder(settings.out, "train");
  run::RunDirectory directory = run::RunDirectory::open(path);
  const fs::path to = fs::path(path) / "checkpoints" / fs::path(checkpoint.path).filename();
  cli::make_folder(to.parent_path().string(), "train");
  if (!fs::exists(to)) {
    const fs::path half = to.string() + ".branch";
    fs::remove_all(half);
    fs::copy(checkpoint.path, half);
    fs::rename(half, to);
  }
  cli::write_text(directory.file("metrics.jsonl"), metrics_below(source.run, checkpoint.step));
  // A past that agrees with these settings makes the branch the straight run.
  if (run::conflict_with(settings, source.run).empty()) return;
  const run::Recipe parent = run::recipe_of(run::settings_in(source.run));
  directory.write_facts({{"branched",
                          {{"run", source.run},
                           {"key", fmt::format("{}-s{}", parent.group_key(), parent.seed)},
                           {"step", checkpoint.step}}}});
}

}  // namespace bcos::lab::commands
