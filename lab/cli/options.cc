#include "lab/cli/options.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "bcos/executor.hpp"
#include "engine/suggestion.hpp"
#include "lab/cli/usage.hpp"

namespace bcos::lab::cli {
namespace {

template <class T>
std::optional<T> parsed(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The value of an option. Throws if it is no whole number from `least` to `most`.
std::uint64_t whole_in(const CLI::App& app, const std::string& name, const std::string& text,
                       std::uint64_t least, std::uint64_t most) {
  const auto value = parsed<std::uint64_t>(text);
  if (value && *value >= least && *value <= most) return *value;
  const bool bounded = most < std::numeric_limits<std::uint64_t>::max();
  throw misuse(app.get_name(), "expected {} as a whole number {} but received '{}'", name,
               bounded ? fmt::format("in {}..{}", least, most) : fmt::format(">= {}", least), text);
}

Target known_target(std::string_view command, std::string_view source, std::string_view text) {
  std::vector<std::string_view> known;
  for (const Target target : available_targets()) {
    known.push_back(name(target));
    if (known.back() == text) return target;
  }
  throw misuse(command, "expected {} as one of {} on this CPU but received '{}'", source,
               fmt::join(known, ", "), text);
}

}  // namespace

std::optional<double> real_of(std::string_view text) { return parsed<double>(text); }
std::optional<std::uint64_t> whole_of(std::string_view text) { return parsed<std::uint64_t>(text); }

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string option_of(std::string_view field) {
  std::string name(field);
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

CLI::Option* add_value(CLI::App& app, const std::string& name, const std::string& kind,
                       const std::string& help, std::function<void(const std::string&)> read) {
  const auto accept = [&app, name, read = std::move(read)](const std::vector<std::string>& values) {
    if (values.size() != 1) {
      throw misuse(app.get_name(), "expected {} once but received it {} times", name,
                   values.size());
    }
    read(values.front());
    return true;
  };
  // Repeated values reach `accept`, which says so in our words.
  return app.add_option(name, accept, help)
      ->type_name(kind)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option* add_text(CLI::App& app, const std::string& name, const std::string& kind,
                      std::string& out, const std::string& help) {
  return add_value(app, name, kind, help, [&app, name, &out](const std::string& text) {
    if (text.empty()) {
      throw misuse(app.get_name(), "expected a value for {} but received nothing", name);
    }
    out = text;
  });
}

CLI::Option* add_real(CLI::App& app, const std::string& name, std::optional<double>& out,
                      const std::string& help) {
  return add_value(app, name, "X", help, [&app, name, &out](const std::string& text) {
    out = real_of(text);
    if (!out) throw misuse(app.get_name(), "expected {} as a number but received '{}'", name, text);
  });
}

CLI::Option* add_whole(CLI::App& app, const std::string& name, std::optional<std::uint64_t>& out,
                       const std::string& help, std::uint64_t least, std::uint64_t most) {
  return add_value(app, name, "N", help, [&app, name, &out, least, most](const std::string& text) {
    out = whole_in(app, name, text, least, most);
  });
}

CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& out,
                        std::vector<std::string_view> choices, const std::string& help) {
  const std::string kind = fmt::format("{}", fmt::join(choices, "|"));
  return add_value(app, name, kind, help,
                   [&app, name, &out, choices, kind](const std::string& text) {
                     if (std::ranges::find(choices, text) == choices.end()) {
                       throw misuse(app.get_name(), "expected {} as {} but received '{}'{}", name,
                                    kind, text, suggestion(text, choices));
                     }
                     out = text;
                   });
}

CLI::Option* add_dtype(CLI::App& app, std::optional<DType>& out, const std::string& usual) {
  return add_value(
      app, "--dtype", "f64|f32", fmt::format("the type that computes (default {})", usual),
      [&app, &out](const std::string& text) {
        if (text != "f64" && text != "f32") {
          throw misuse(app.get_name(), "expected --dtype as f64 or f32 but received '{}'", text);
        }
        out = text == "f32" ? DType::f32 : DType::f64;
      });
}

void add_target(CLI::App& app, std::optional<Target>& out) {
  add_value(app, "--target", "NAME", "the kernels to use, see `bcos targets`",
            [&app, &out](const std::string& text) {
              out = known_target(app.get_name(), "--target", text);
            });
}

Target chosen_target(const std::optional<Target>& given) {
  if (given) return *given;
  const char* wanted = std::getenv("BCOS_TARGET");
  if (wanted != nullptr && *wanted != '\0') return known_target("bcos", "BCOS_TARGET", wanted);
  return default_target();
}

void add_threads(CLI::App& app) {
  add_value(app, "--threads", "N", "threads of the engine (default: BCOS_NUM_THREADS, else all)",
            [&app](const std::string& text) {
              const auto threads = whole_in(app, "--threads", text, 1, kMostThreads);
              as_usage([&] { set_default_threads(static_cast<int>(threads)); });
            });
}

}  // namespace bcos::lab::cli
