#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>

#include "engine/suggestion.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/usage.hpp"
#include "lab/run/settings.hpp"

namespace bcos::lab::run {
namespace {

constexpr std::string_view kWhere = "train";

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::string_view words_of(const Field& field) {
  return std::visit(Overloaded{[](std::string Settings::*) { return "text"; },
                               [](std::uint64_t Settings::*) { return "a whole number"; },
                               [](double Settings::*) { return "a number"; },
                               [](bool Settings::*) { return "yes or no"; },
                               [](std::optional<double> Settings::*) { return "a number"; },
                               [](std::vector<std::uint64_t> Settings::*) {
                                 return "whole numbers with commas between";
                               }},
                    field.member);
}

cli::UsageError wrong(const Field& field, std::string_view text) {
  return cli::misuse(kWhere, "expected {} as {} but received '{}'", field.key, words_of(field),
                     text);
}

std::optional<bool> truth_of(std::string_view text) {
  if (text == "true" || text == "yes" || text == "1" || text == "on") return true;
  if (text == "false" || text == "no" || text == "0" || text == "off") return false;
  return std::nullopt;
}

std::optional<std::vector<std::uint64_t>> wholes_of(std::string_view text) {
  if (text.empty()) return std::vector<std::uint64_t>();
  return cli::list_of(text, cli::whole_of);
}

std::string toml_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\u{:04x}", byte);
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

using Keys = std::pair<std::string_view, std::string_view>;
constexpr Keys kDoubles[] = {{"lr", "adamw_lr"},
                             {"steps", "epochs"},
                             {"warmup", "warmup_part"},
                             {"weight_decay", "decay_rate"}};

/// What the setting that was set puts out of force.
void forget_other(Settings& settings, std::string_view key) {
  if (key == "adamw_lr") settings.lr = std::nullopt;
  if (key == "steps") settings.epochs = 0;
  if (key == "warmup") settings.warmup_part = 0;
  if (key == "warmup_part") settings.warmup = 0;
  if (key == "weight_decay") settings.decay_rate = std::nullopt;
  if (key == "decay_rate") settings.weight_decay = std::nullopt;
}

/// Whether another setting has put it out of force.
bool is_out_of_force(const Settings& settings, std::string_view key) {
  const bool part = settings.warmup == 0 && settings.warmup_part > 0;
  return (key == "adamw_lr" && settings.lr) || (key == "steps" && settings.epochs > 0) ||
         (key == "epochs" && settings.epochs == 0) || (key == "warmup" && part) ||
         (key == "warmup_part" && !part);
}

/// The text that a flag would have had for a value of a TOML file.
std::string flag_text(const toml::node& node, const Field& field) {
  const bool is_text = std::holds_alternative<std::string Settings::*>(field.member);
  const bool is_truth = std::holds_alternative<bool Settings::*>(field.member);
  if (const auto* text = node.as_string()) {
    if (!is_text) throw wrong(field, text->get());
    return text->get();
  }
  if (const auto* truth = node.as_boolean()) {
    if (!is_truth) throw wrong(field, truth->get() ? "true" : "false");
    return truth->get() ? "true" : "false";
  }
  if (is_truth) {
    throw cli::misuse(kWhere, "expected {} as true or false but received {}", field.key,
                      node.is_number() ? "a number" : "something else");
  }
  if (is_text) throw wrong(field, node.is_number() ? "a number" : "something else");
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* real = node.as_floating_point()) return fmt::format("{}", real->get());
  if (const auto* array = node.as_array()) {
    std::vector<std::string> items;
    for (const toml::node& item : *array) {
      if (!item.is_integer()) throw wrong(field, "a list of other things");
      items.push_back(fmt::format("{}", item.as_integer()->get()));
    }
    return fmt::format("{}", fmt::join(items, ","));
  }
  throw wrong(field, "something else");
}

}  // namespace

void set_field(Settings& settings, const Field& field, const std::string& text) {
  if (!field.choices.empty() && std::ranges::find(field.choices, text) == field.choices.end()) {
    throw cli::misuse(kWhere, "expected {} as {} but received '{}'{}", field.key, kind_of(field),
                      text, suggestion(text, field.choices));
  }
  const auto given = [&](auto value) {
    if (!value) throw wrong(field, text);
    return *value;
  };
  const auto finite = [&](std::optional<double> value) {
    return value && std::isfinite(*value) ? value : std::nullopt;
  };
  std::visit(
      Overloaded{
          [&](std::string Settings::* member) { settings.*member = text; },
          [&](std::uint64_t Settings::* member) { settings.*member = given(cli::whole_of(text)); },
          [&](double Settings::* member) { settings.*member = given(finite(cli::real_of(text))); },
          [&](bool Settings::* member) { settings.*member = given(truth_of(text)); },
          [&](std::optional<double> Settings::* member) {
            settings.*member = given(finite(cli::real_of(text)));
          },
          [&](std::vector<std::uint64_t> Settings::* member) {
            settings.*member = given(wholes_of(text));
          }},
      field.member);
  forget_other(settings, field.key);
}

void refuse_doubles(std::span<const std::string_view> keys) {
  const auto has = [&](std::string_view key) { return std::ranges::find(keys, key) != keys.end(); };
  for (const auto& [one, other] : kDoubles) {
    if (!has(one) || !has(other)) continue;
    throw cli::misuse(kWhere, "expected only one of {} and {} but received both", one, other);
  }
}

std::string text_of(const Settings& settings, const Field& field) {
  return std::visit(
      Overloaded{
          [&](std::string Settings::* member) { return settings.*member; },
          [&](bool Settings::* member) { return std::string(settings.*member ? "true" : "false"); },
          [&](std::optional<double> Settings::* member) {
            return settings.*member ? fmt::format("{}", *(settings.*member)) : "";
          },
          [&](std::vector<std::uint64_t> Settings::* member) {
            return fmt::format("{}", fmt::join(settings.*member, ","));
          },
          [&](auto member) { return fmt::format("{}", settings.*member); }},
      field.member);
}

void copy_field(Settings& to, const Settings& from, const Field& field) {
  std::visit([&](auto member) { to.*member = from.*member; }, field.member);
}

std::string kind_of(const Field& field) {
  if (!field.choices.empty()) {
    std::vector<std::string_view> words = field.choices;
    std::erase(words, "");
    return fmt::format("{}", fmt::join(words, "|"));
  }
  return std::visit(
      Overloaded{[](std::string Settings::*) { return "TEXT"; },
                 [](std::uint64_t Settings::*) { return "N"; },
                 [](double Settings::*) { return "X"; }, [](bool Settings::*) { return "yes|no"; },
                 [](std::optional<double> Settings::*) { return "X"; },
                 [](std::vector<std::uint64_t> Settings::*) { return "N,N"; }},
      field.member);
}

Settings settings_from_toml(Settings base, const std::string& text, const std::string& path) {
  toml::table table;
  try {
    table = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw cli::misuse(kWhere, "expected TOML in '{}' but received: {} (line {})", path,
                      error.description(), error.source().begin.line);
  }
  std::vector<std::string_view> keys;
  for (const auto& [key, node] : table) {
    const Field& field = field_of(key.str());
    set_field(base, field, flag_text(node, field));
    keys.push_back(field.key);
  }
  refuse_doubles(keys);
  return base;
}

std::string to_toml(const Settings& settings) {
  std::string text;
  for (const Field& field : fields()) {
    std::string value = text_of(settings, field);
    const bool absent =
        value.empty() && std::holds_alternative<std::optional<double> Settings::*>(field.member);
    if (absent || is_out_of_force(settings, field.key)) continue;
    const std::string written = std::visit(
        Overloaded{[&](std::string Settings::*) { return toml_string(value); },
                   [&](std::vector<std::uint64_t> Settings::*) { return "[" + value + "]"; },
                   [&](auto) { return value; }},
        field.member);
    text += fmt::format("{} = {}\n", field.key, written);
  }
  return text;
}

}  // namespace bcos::lab::run
