#include "lab/run/run_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <ctime>
#include <span>
#include <thread>

#include "engine/error.hpp"
#include "engine/safetensors/atomic_file.hpp"
#include "lab/cli/files.hpp"
#include "lab/run/file_system.hpp"

namespace bcos::lab::run {
namespace {

using safetensors::Descriptor;
using safetensors::io_error;
using safetensors::open_descriptor;
using safetensors::system_calls;
using safetensors::write_error;

constexpr std::string_view kOwnerBegins = "process ";
/// An owner writes its name just after it has the lock: so long may it take.
constexpr auto kOwnerPause = std::chrono::milliseconds(10);
constexpr int kOwnerPauses = 200;

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

std::string owner_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> since{};
  std::strftime(since.data(), since.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return fmt::format("{}{} on host {} since {}\n", kOwnerBegins, ::getpid(), host_name(),
                     since.data());
}

/// The first line of a lock file, fit to be shown.
std::string read_owner(const Descriptor& lock, const std::string& path) {
  std::array<char, 256> text{};
  const std::size_t size =
      safetensors::read_at("run", lock, 0, std::as_writable_bytes(std::span(text)), path);
  std::string owner(text.data(), size);
  owner.resize(std::min(owner.size(), owner.find('\n')));
  std::ranges::replace_if(owner, [](char c) { return c < ' ' || c > '~'; }, '?');
  return owner;
}

/// Whether a text names a process that may have the lock now, not one that died with it.
bool may_be_owner(const std::string& owner) {
  if (!owner.starts_with(kOwnerBegins)) return false;
  pid_t process = 0;
  std::from_chars(owner.data() + kOwnerBegins.size(), owner.data() + owner.size(), process);
  const bool here = owner.find(fmt::format(" on host {} ", host_name())) != std::string::npos;
  return !here || process_lives(process);
}

/// Whether an open file is still the one of that name.
bool is_same_file(const Descriptor& file, const std::string& path) {
  struct stat open{};
  struct stat named{};
  return system_calls().fstat(file.get(), &open) == 0 &&
         system_calls().stat(path.c_str(), &named) == 0 && open.st_ino == named.st_ino &&
         open.st_dev == named.st_dev;
}

/// Whether the lock was free, and now is ours.
bool try_lock(const Descriptor& file, const std::string& path) {
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) throw io_error("run", "lock", errno, path);
  }
  return true;
}

/// A lock of the open file: the system drops it when the process ends.
Descriptor take_lock(const std::string& directory) {
  const std::string path = directory + "/lock";
  std::string owner;
  for (int pause = 0; pause < kOwnerPauses; ++pause) {
    Descriptor file = open_descriptor(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0666);
    if (file.get() < 0) throw io_error("run", "open", errno, path);
    if (try_lock(file, path)) {
      if (is_same_file(file, path)) return file;
    } else {
      owner = read_owner(file, path);
      if (may_be_owner(owner)) break;
    }
    std::this_thread::sleep_for(kOwnerPause);
  }
  throw fail(ErrorCode::io, "run",
             "expected a run directory of one process but '{}' is used by {}: wait for it, or "
             "choose another directory",
             directory, owner.empty() ? "another process" : owner);
}

void sign_lock(const Descriptor& lock, const std::string& path) {
  const std::string owner = owner_text();
  if (::ftruncate(lock.get(), 0) != 0) throw io_error("run", "cut", errno, path);
  if (write_all(lock, owner) < owner.size()) {
    throw write_error("run", "write", errno, path, owner.size());
  }
}

void make_with_parent(const std::string& path) {
  const std::string parent = parent_of(path);
  if (!exists(path) && !exists(parent)) {
    const std::string above = parent_of(parent);
    if (!exists(above)) {
      throw fail(ErrorCode::io, "run",
                 "expected to make '{}' but its parent '{}' is missing: make it first", path,
                 above);
    }
    make_directory("run", parent);
    sync_directory("run", above);
  }
  make_directory("run", path);
  sync_directory("run", parent);
}

}  // namespace

RunDirectory RunDirectory::open(const std::string& given, Expected expected) {
  safetensors::check_path("run", given);
  const std::string path = without_slashes(given);
  if (expected != Expected::a_run) {
    make_with_parent(path);
  } else if (!exists(path)) {
    throw fail(ErrorCode::io, "run",
               "expected a run to go on with but there is none in its place: '{}' is missing",
               path);
  }
  Descriptor lock = take_lock(path);
  sign_lock(lock, path + "/lock");
  RunDirectory run(path, std::move(lock));
  run.check(expected);
  run.remove_leftovers();
  return run;
}

RunDirectory::RunDirectory(std::string path, Descriptor lock)
    : path_(std::move(path)), lock_(std::move(lock)) {}

RunDirectory::~RunDirectory() {
  // Nobody else can have signed it meanwhile. If it stays signed, readers find the process dead.
  if (lock_.get() >= 0) static_cast<void>(::ftruncate(lock_.get(), 0) == 0);
}

std::string RunDirectory::file(std::string_view name) const {
  return fmt::format("{}/{}", path_, name);
}

void RunDirectory::check(Expected expected) const {
  if (expected == Expected::a_run && !exists(file("config.toml"))) {
    throw fail(ErrorCode::mismatch, "run",
               "expected a run to go on with but there is none in '{}': it has no config.toml",
               path_);
  }
}

/// Half-written files of processes that died: with the lock in hand they are nobody's.
void RunDirectory::remove_leftovers() const {
  for (const char* name : {"config.toml", "run.json"}) remove_half_written("run", file(name));
}

void RunDirectory::write_file(std::string_view name, std::string_view text) const {
  safetensors::AtomicFile output("run", file(name), text.size());
  output.append(std::as_bytes(std::span(text)));
  output.commit();
}

void RunDirectory::write_config(std::string_view toml) { write_file("config.toml", toml); }

void RunDirectory::write_facts(const nlohmann::ordered_json& facts) {
  using Handler = nlohmann::ordered_json::error_handler_t;
  write_file("run.json", facts.dump(2, ' ', false, Handler::replace) + "\n");
}

nlohmann::ordered_json RunDirectory::read_facts() const {
  try {
    const std::string path = file("run.json");
    if (exists(path)) return cli::parse_json(cli::read_text(path), path);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a damaged file says nothing
  }
  return nlohmann::ordered_json::object();
}

void RunDirectory::force_metrics() {
  if (metrics_.get() >= 0) sync_file("run", metrics_, file("metrics.jsonl"));
}

void RunDirectory::open_metrics() {
  const std::string path = file("metrics.jsonl");
  Descriptor metrics = open_descriptor(path, O_RDWR | O_APPEND | O_CREAT, 0666);
  if (metrics.get() < 0) throw io_error("run", "open", errno, path);
  struct stat status{};
  if (system_calls().fstat(metrics.get(), &status) != 0) {
    throw io_error("run", "get the size of", errno, path);
  }
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    std::array<std::byte, 1> last{};
    safetensors::read_at("run", metrics, static_cast<std::uint64_t>(status.st_size) - 1, last,
                         path);
    cut_ = last[0] != std::byte{'\n'};
  }
  metrics_ = std::move(metrics);
}

void RunDirectory::append_metrics(const nlohmann::ordered_json& line) {
  if (metrics_.get() < 0) open_metrics();
  using Handler = nlohmann::ordered_json::error_handler_t;
  std::string text = cut_ ? "\n" : "";
  text += line.dump(-1, ' ', false, Handler::replace);
  text += '\n';
  const std::size_t written = write_all(metrics_, text);
  const int code = errno;
  if (written > 0) cut_ = text[written - 1] != '\n';
  if (written < text.size()) {
    throw write_error("run", "write", code, file("metrics.jsonl"), text.size() - written);
  }
}

}  // namespace bcos::lab::run
