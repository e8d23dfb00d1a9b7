#include "lab/cli/children.hpp"

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "engine/error.hpp"

namespace bcos::lab::cli {
namespace {

constexpr const char* kParent = "BCOS_PARENT";

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

void end_with_parent() {
  const char* parent = std::getenv(kParent);
  if (parent == nullptr) return;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (std::to_string(getppid()) != parent) _exit(128 + SIGTERM);
  unsetenv(kParent);
}

Child::Child(const std::vector<std::string>& arguments) {
  setenv(kParent, std::to_string(getpid()).c_str(), 1);
  std::vector<std::string> words = {"bcos"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int error =
      posix_spawn(&pid_, "/proc/self/exe", nullptr, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  unsetenv(kParent);
  if (error != 0) {
    pid_ = -1;
    throw fail(ErrorCode::io, "spawn", "expected to start `bcos {}` but received '{}'",
               arguments.empty() ? "" : arguments.front(), std::generic_category().message(error));
  }
}

Child::~Child() {
  if (pid_ < 0 || code_) return;
  send(SIGTERM);
  wait();
}

Child::Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)), code_(other.code_) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(code_, other.code_);
  return *this;
}

std::optional<int> Child::ended() {
  if (code_) return code_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) == pid_) code_ = code_of(status);
  return code_;
}

int Child::wait() {
  int status = 0;
  while (!code_) {
    if (waitpid(pid_, &status, 0) == pid_) {
      code_ = code_of(status);
    } else if (errno != EINTR) {
      code_ = 1;
    }
  }
  return *code_;
}

void Child::send(int signal) const {
  if (pid_ > 0 && !code_) kill(pid_, signal);
}

}  // namespace bcos::lab::cli
