#include "lab/commands/schedule/schedule_options.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "bcos/text.hpp"
#include "engine/method/names.hpp"
#include "lab/cli/files.hpp"
#include "lab/cli/options.hpp"
#include "lab/cli/usage.hpp"

namespace bcos::lab::commands {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kCommand = "schedule";

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The engine speaks of fields, the user wrote options: "expected --total >= 1 ...".
std::string with_option_names(const std::string& message) {
  const auto fields = ordered_json::parse(to_json(Schedule{}));
  std::string result = fmt::format("[{}]", kCommand);
  std::size_t at = message.find(']') + 1;
  while (at < message.size()) {
    std::size_t end = at;
    while (end < message.size() && in_word(message[end])) ++end;
    const std::string word = message.substr(at, std::max<std::size_t>(end - at, 1));
    result += fields.contains(word) ? cli::option_of(word) : word;
    at += word.size();
  }
  return result;
}

std::vector<std::uint64_t> milestones_of(const std::string& text) {
  const auto list = cli::list_of(text, cli::whole_of);
  if (!list) {
    throw cli::misuse(kCommand, "expected --milestones as whole numbers a,b,c but received '{}'",
                      text);
  }
  return *list;
}

/// Adds the option of a field whose text `parse` turns into a value or nothing.
template <class Parse>
void add_number(CLI::App& app, ScheduleOptions& options, const std::string& key, const char* kind,
                const char* words, const std::string& help, Parse parse) {
  const std::string option = cli::option_of(key);
  cli::add_value(
      app, option, kind, help, [&options, option, key, words, parse](const std::string& text) {
        const auto value = parse(text);
        if (!value) {
          throw cli::misuse(kCommand, "expected {} as {} but received '{}'", option, words, text);
        }
        options.given[key] = *value;
      });
}

void add_real_field(CLI::App& app, ScheduleOptions& options, const char* key,
                    const std::string& help) {
  // JSON has no infinity: the engine could not say what it received.
  add_number(app, options, key, "X", "a finite number", help, [](const std::string& text) {
    const auto value = cli::real_of(text);
    return value && std::isfinite(*value) ? value : std::nullopt;
  });
}

void add_whole_field(CLI::App& app, ScheduleOptions& options, const char* key,
                     const std::string& help) {
  add_number(app, options, key, "N", "a whole number", help, cli::whole_of);
}

void add_name_field(CLI::App& app, ScheduleOptions& options, const std::string& key,
                    std::span<const std::string_view> names, const std::string& help) {
  cli::add_value(app, cli::option_of(key), fmt::format("{}", fmt::join(names, "|")), help,
                 [&options, key](const std::string& text) { options.given[key] = text; });
}

/// Fields that only some curves read.
struct FieldOfSome {
  const char* field;
  std::vector<Curve> curves;
};

const std::vector<FieldOfSome>& fields_of_some() {
  const std::vector<Curve> ending = {Curve::cosine, Curve::linear, Curve::wsd};
  static const std::vector<FieldOfSome> fields = {
      {"alpha_min", ending}, {"progress", ending},      {"decay_steps", {Curve::wsd}},
      {"p", {Curve::power}}, {"factor", {Curve::step}}, {"milestones", {Curve::step}}};
  return fields;
}

/// An option that changes nothing is a mistake; files may carry every field.
void check_all_read(const nlohmann::ordered_json& given, Curve curve) {
  for (const auto& [field, curves] : fields_of_some()) {
    if (!given.contains(field) || std::ranges::count(curves, curve) > 0) continue;
    std::vector<std::string_view> names;
    names.reserve(curves.size());
    for (const Curve reader : curves) names.push_back(name(reader));
    throw cli::misuse(kCommand, "expected {} with --curve {} alone but received it with --curve {}",
                      cli::option_of(field), fmt::join(names, ", "), name(curve));
  }
}

std::string text_of_file(const std::string& path) {
  std::string text = cli::read_text(path);
  if (!path.ends_with(".toml")) return text;
  return cli::as_usage([&] { return to_json(schedule_from_toml(text)); });
}

}  // namespace

void add_schedule_options(CLI::App& app, ScheduleOptions& options) {
  const Schedule usual;
  add_name_field(app, options, "curve", names_of<Curve>(),
                 fmt::format("the curve after warm-up (default {})", name(usual.curve)));
  add_real_field(app, options, "alpha_max", fmt::format("the peak (default {})", usual.alpha_max));
  add_real_field(app, options, "alpha_min",
                 fmt::format("cosine, linear, wsd: the end (default {})", usual.alpha_min));
  add_whole_field(app, options, "warmup", fmt::format("warm-up W (default {})", usual.warmup));
  add_whole_field(app, options, "total", "all steps T; cosine, linear and wsd need it");
  add_whole_field(app, options, "decay_steps", "wsd: steps of the decay (default T/5)");
  add_real_field(app, options, "p", fmt::format("power: alpha_max/(t+1)^p (default {})", usual.p));
  add_real_field(app, options, "factor",
                 fmt::format("step: factor of a milestone (default {})", usual.factor));
  cli::add_value(
      app, "--milestones", "a,b,c", "step: the steps where alpha falls",
      [&options](const std::string& text) { options.given["milestones"] = milestones_of(text); });
  add_name_field(app, options, "warmup_count", names_of<WarmupCount>(),
                 "(t+1)/W, t/W or (t+1)/(W+1) of the peak");
  add_name_field(app, options, "progress", names_of<Progress>(),
                 "(t-W)/(T-W), (t-W+1)/(T-W) or (t-W)/(T-1-W) of the decay");
  cli::add_text(app, "--json", "TEXT|@FILE", options.json,
                "the schedule as JSON (a FILE may also be TOML), changed by the options above");
}

Schedule schedule_of(const ScheduleOptions& options) {
  std::string text = options.json;
  if (text.starts_with('@')) text = text_of_file(text.substr(1));
  if (text.empty()) {
    text = options.given.is_null() ? "{}" : options.given.dump();
  } else if (!options.given.is_null()) {
    ordered_json merged = cli::as_usage([&] { return cli::parse_json(text, "--json"); });
    if (merged.is_object()) {
      merged.update(options.given);
      text = merged.dump();
    }
  }
  Schedule schedule;
  try {
    schedule = schedule_from_json(text);
  } catch (const Error& error) {
    throw cli::UsageError(options.json.empty() ? with_option_names(error.what()) : error.what());
  }
  check_all_read(options.given, schedule.curve);
  return schedule;
}

}  // namespace bcos::lab::commands
