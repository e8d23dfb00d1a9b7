#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bcos/target.hpp"
#include "bcos/tensor.hpp"

/// Options whose errors read like all others: "[replay] expected --threads as ... but received
/// ...".
namespace bcos::lab::cli {

/// Number of a text that is a number and nothing else.
std::optional<double> real_of(std::string_view text);
std::optional<std::uint64_t> whole_of(std::string_view text);

/// The parts between separators; an empty text has one empty part.
std::vector<std::string> split(std::string_view text, char separator);

/// "a,b,c" read part by part, or nothing if a part is not what `read` accepts.
template <class Read>
auto list_of(std::string_view text, Read read)
    -> std::optional<std::vector<typename decltype(read(text))::value_type>> {
  std::vector<typename decltype(read(text))::value_type> list;
  for (const std::string& part : split(text, ',')) {
    const auto value = read(part);
    if (!value) return std::nullopt;
    list.push_back(*value);
  }
  return list;
}

/// The option of a field: "--alpha-max" of "alpha_max".
std::string option_of(std::string_view field);

/// An option with one value; `read` is given its text. `kind` stands for the value in the help.
CLI::Option* add_value(CLI::App& app, const std::string& name, const std::string& kind,
                       const std::string& help, std::function<void(const std::string&)> read);

CLI::Option* add_text(CLI::App& app, const std::string& name, const std::string& kind,
                      std::string& out, const std::string& help);
CLI::Option* add_real(CLI::App& app, const std::string& name, std::optional<double>& out,
                      const std::string& help);
CLI::Option* add_whole(CLI::App& app, const std::string& name, std::optional<std::uint64_t>& out,
                       const std::string& help, std::uint64_t least = 0,
                       std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// A word of `choices`, which the help lists; another one gives the nearest.
CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& out,
                        std::vector<std::string_view> choices, const std::string& help);

/// --dtype f64|f32, --target NAME, --threads N.
CLI::Option* add_dtype(CLI::App& app, std::optional<DType>& out, const std::string& usual);
void add_target(CLI::App& app, std::optional<Target>& out);
void add_threads(CLI::App& app);

/// The target that --target gave, else the default one. Throws UsageError if BCOS_TARGET is wrong.
Target chosen_target(const std::optional<Target>& given);

}  // namespace bcos::lab::cli
