#include "lab/run/status.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>

#include "engine/error.hpp"
#include "engine/safetensors/file_io.hpp"
#include "lab/run/checkpoint_store.hpp"

namespace bcos::lab::run {
namespace {

namespace fs = std::filesystem;

bool is_locked(const std::string& directory) {
  const auto lock = safetensors::open_descriptor(directory + "/lock", O_RDONLY);
  if (lock.get() < 0) return false;
  return ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

bool is_mixed(const RunRecord& record) {
  const auto found = record.facts.find("numerics");
  return found != record.facts.end() && found->is_array() && found->size() > 1;
}

/// Whether the last step was reached and evaluated, as far as the metrics know.
bool is_whole(const RunRecord& record, const State& state) {
  const auto& eval = record.metrics.eval;
  return !eval.empty() && static_cast<std::uint64_t>(eval.back().step) == state.steps;
}

/// Why a run cannot go on: none of the checkpoints that it has is whole.
std::string lost_checkpoints(const std::string& directory) {
  std::vector<std::string> complaints;
  if (latest_checkpoint(directory + "/checkpoints", complaints) || complaints.empty()) return {};
  return complaints.front();
}

State read_state(const std::string& directory, RunRecord& record) {
  State state{.status = Status::planned, .done = 0, .steps = 0, .mixed = false, .why = {}};
  const bool locked = is_locked(directory);
  if (!fs::exists(directory + "/config.toml")) {
    state.status = locked ? Status::running : Status::planned;
    return state;
  }
  read_unfinished_run(directory, record);
  state.steps = record.facts.value("steps", std::uint64_t{0});
  state.mixed = is_mixed(record);
  if (!record.metrics.train.empty()) {
    state.done = static_cast<std::uint64_t>(record.metrics.train.back().step) + 1;
  }
  const std::string outcome = record.facts.value("outcome", "");
  if (outcome == "finished" && is_whole(record, state)) {
    state.status = Status::finished;
  } else if (locked) {
    state.status = Status::running;
  } else if (outcome == "diverged") {
    state.status = Status::diverged;
  } else {
    state.why = lost_checkpoints(directory);
    state.status = state.why.empty() ? Status::interrupted : Status::damaged;
  }
  return state;
}

}  // namespace

std::string_view name_of(Status status) {
  switch (status) {
    case Status::planned:
      return "planned";
    case Status::running:
      return "running";
    case Status::interrupted:
      return "interrupted";
    case Status::diverged:
      return "diverged";
    case Status::damaged:
      return "damaged";
    case Status::finished:
      return "finished";
  }
  return "unknown";
}

State state_of(const std::string& directory, RunRecord& record) {
  record.directory = directory;
  record.name = fs::path(directory).filename().string();
  try {
    return record.state = read_state(directory, record);
  } catch (const std::exception& error) {
    return record.state = {.status = Status::damaged,
                           .done = 0,
                           .steps = 0,
                           .mixed = false,
                           .why = error.what()};
  }
}

State state_of(const std::string& directory) {
  RunRecord ignored;
  return state_of(directory, ignored);
}

std::string state_text(const State& state) {
  if (state.status == Status::finished) return state.mixed ? "finished, mixed" : "finished";
  if (state.status == Status::planned) return "planned";
  if (state.status == Status::damaged) return fmt::format("damaged: {}", state.why);
  const std::string_view where = state.status == Status::diverged ? "after" : "at";
  return fmt::format("{} {} step {} of {}", name_of(state.status), where, state.done,
                     state.steps > 0 ? fmt::format("{}", state.steps) : "?");
}

bool is_put_aside(const std::string& directory) { return fs::exists(directory + "/" + kPutAside); }

}  // namespace bcos::lab::run
