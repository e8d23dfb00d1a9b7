#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bcos::lab::cli {

enum ExitCode { kFine = 0, kFailed = 1, kMisused = 2, kDiverged = 3, kInterrupted = 130 };

/// Thrown by a command that ends with a code of its own; the message, if any, goes to standard
/// error.
struct Ended {
  ExitCode code;
  std::string message;
};

/// The program: its commands, its help, and what becomes of errors.
class Program {
 public:
  Program();

  /// A command, or one of a command's own ("theory list", after "theory"); the caller adds its
  /// options to what this returns. `run` is called when the command line has been read, and throws
  /// UsageError or Error when it cannot do its work.
  CLI::App& add(const std::string& name, const std::string& summary,
                const std::vector<std::string>& examples, std::function<void()> run);

  /// Reads the command line, runs the command and gives the exit code. Errors are one line on
  /// standard error.
  int run(int argc, const char* const* argv);

 private:
  void parse_and_run(int argc, const char* const* argv);
  void add_help();
  std::string help_of(const std::string& name) const;
  /// The command that the line named, its own command included; empty if none.
  std::string chosen() const;
  std::vector<std::string> command_names() const;

  CLI::App app_;
  std::map<std::string, std::function<void()>> runs_;
  std::string help_topic_;
};

}  // namespace bcos::lab::cli
