#include "lab/cli/program.hpp"

#include <cstdio>
#include <new>

#include "bcos/executor.hpp"
#include "bcos/version.h"
#include "engine/suggestion.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/output.hpp"
#include "lab/cli/usage.hpp"

namespace bcos::lab::cli {
namespace {

constexpr const char* kFooter = R"(Exit codes:
  0  fine
  1  failed: a check failed, or a file is damaged, unreadable or not writable
  2  usage: the command line is wrong
  3  diverged: too many steps in a row were not finite
  130  interrupted by Ctrl-C, after saving; SIGTERM saves and gives 0

Environment:
  BCOS_TARGET       the kernels to use, see `bcos targets`
  BCOS_NUM_THREADS  threads of the engine
  NO_COLOR          no colours, even on a terminal

Example:
  bcos check                  does this machine compute what it should?
  bcos help schedule          options of a command, with examples
)";

std::string suggestion_of(const std::string& word, const std::vector<std::string>& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  return suggestion(word, views);
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// The first argument that was not understood, in the words of its command.
void refuse_extras(const CLI::App& app, const std::vector<std::string>& commands) {
  for (const CLI::App* command : app.get_subcommands()) refuse_extras(*command, {});
  const std::vector<std::string> extras = app.remaining();
  if (extras.empty()) return;
  const std::string& extra = extras.front();
  if (extra.size() > 1 && extra.starts_with('-')) {
    const std::string option = extra.substr(0, extra.find('='));
    throw misuse(app.get_name(), "expected a known option but received '{}'{}", option,
                 suggestion_of(option, option_names(app)));
  }
  if (!commands.empty()) {
    throw misuse(app.get_name(), "expected a command but received '{}'{}", extra,
                 suggestion_of(extra, commands));
  }
  throw misuse(app.get_name(), "expected no further argument but received '{}'", extra);
}

/// What CLI11 says, in our words.
UsageError reworded(const CLI::ParseError& error, const std::string& command) {
  const std::string text = error.what();
  const auto before = [&](std::string_view word) { return text.substr(0, text.find(word)); };
  if (error.get_name() == "RequiredError") {
    return misuse(command, "expected {} but received nothing", before(" is required"));
  }
  if (error.get_name() == "ArgumentMismatch" && text.ends_with("missing")) {
    return misuse(command, "expected a value for {} but received nothing", before(":"));
  }
  if (error.get_name() == "ExcludesError") {
    return misuse(command, "expected only one of {} and {} but received both", before(" excludes "),
                  text.substr(text.rfind(' ') + 1));
  }
  return misuse(command, "expected other arguments but received: {}", text);
}

std::string help_text(const CLI::App& app, const std::string& name, std::size_t column) {
  CLI::Formatter formatter;
  formatter.label("SUBCOMMAND", "COMMAND");
  formatter.column_width(column);
  std::string text = formatter.make_help(&app, name, CLI::AppFormatMode::Normal);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

/// A variable that is wrong is said before anything runs, whether the command reads it or not.
void check_environment() {
  chosen_target({});
  as_usage(default_threads);
}

int report(std::string_view message, int code) {
  warn(message);
  return code;
}

}  // namespace

Program::Program()
    : app_("The BCOS family of optimizers: train, compare, check, explain.", "bcos") {
  app_.set_help_flag("-h,--help", "print this help and exit");
  app_.set_version_flag("--version", "bcos " BCOS_VERSION_STRING, "print the version and exit");
  app_.require_subcommand(0, 1);
  app_.footer(kFooter);
}

CLI::App& Program::add(const std::string& name, const std::string& summary,
                       const std::vector<std::string>& examples, std::function<void()> run) {
  const std::size_t space = name.rfind(' ');
  const bool nested = space != std::string::npos;
  CLI::App& parent = nested ? *app_.get_subcommand(name.substr(0, space)) : app_;
  CLI::App& command = *parent.add_subcommand(nested ? name.substr(space + 1) : name, summary);
  command.group("Commands");
  std::string footer = examples.size() == 1 ? "Example:\n" : "Examples:\n";
  for (const std::string& example : examples) footer += "  " + example + "\n";
  command.footer(footer);
  runs_[name] = std::move(run);
  return command;
}

std::vector<std::string> Program::command_names() const {
  std::vector<std::string> names;
  names.reserve(runs_.size());
  for (const auto& [name, run] : runs_) {
    if (name.find(' ') == std::string::npos) names.push_back(name);
  }
  return names;
}

std::string Program::help_of(const std::string& name) const {
  if (name.empty()) return help_text(app_, "bcos", 12);
  if (!runs_.contains(name)) {
    throw misuse("help", "expected a command but received '{}'{}", name,
                 suggestion_of(name, command_names()));
  }
  const CLI::App* app = &app_;
  for (const std::string& word : split(name, ' ')) app = app->get_subcommand(word);
  return help_text(*app, "bcos " + name, 28);
}

std::string Program::chosen() const {
  std::string name;
  for (auto parsed = app_.get_subcommands(); !parsed.empty();
       parsed = parsed.front()->get_subcommands()) {
    if (!name.empty()) name += ' ';
    name += parsed.front()->get_name();
  }
  return name;
}

void Program::add_help() {
  if (runs_.contains("help")) return;
  add("help", "Explain a command", {"bcos help check"}, [this] { write_out(help_of(help_topic_)); })
      .add_option("COMMAND", help_topic_, "the command to explain")
      ->type_name("");
}

void Program::parse_and_run(int argc, const char* const* argv) {
  std::string command;
  try {
    app_.parse(argc, argv);
    command = chosen();
  } catch (const CLI::CallForHelp&) {
    return write_out(help_of(chosen()));
  } catch (const CLI::CallForVersion&) {
    return write_out("bcos " BCOS_VERSION_STRING "\n");
  } catch (const UsageError&) {
    // The value of a misspelt option may have been taken for an argument: the option is what is
    // wrong.
    refuse_extras(app_, command_names());
    throw;
  } catch (const CLI::ParseError& error) {
    command = chosen();
    refuse_extras(app_, command_names());
    throw reworded(error, command.empty() ? "bcos" : command);
  }
  if (command.empty()) return write_out(help_of(""));
  check_environment();
  runs_.at(command)();
}

int Program::run(int argc, const char* const* argv) {
  try {
    add_help();
    parse_and_run(argc, argv);
    flush_out();
    return kFine;
  } catch (const OutputClosed&) {
    return kFailed;
  } catch (const Ended& ended) {
    std::fflush(stdout);
    return ended.message.empty() ? ended.code : report(ended.message, ended.code);
  } catch (const UsageError& error) {
    return report(error.what(), kMisused);
  } catch (const std::bad_alloc&) {
    return report("[bcos] expected more memory than this machine has left", kFailed);
  } catch (const std::exception& error) {
    return report(error.what(), kFailed);
  }
}

}  // namespace bcos::lab::cli
