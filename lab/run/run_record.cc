#include "lab/run/run_record.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "engine/error.hpp"
#include "lab/cli/files.hpp"

namespace bcos::lab::run {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhere = "read_run";
constexpr const char* kConfig = "config.toml";
constexpr const char* kFacts = "run.json";
constexpr const char* kMetrics = "metrics.jsonl";

void check_directory(const std::string& directory) {
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored)) {
    throw fail(ErrorCode::io, kWhere, "expected the directory of a run but received '{}': {}",
               directory, fs::exists(directory, ignored) ? "not a directory" : "it does not exist");
  }
  std::string missing;
  for (const char* file : {kConfig, kFacts, kMetrics}) {
    if (fs::exists(fs::path(directory) / file, ignored)) continue;
    missing += missing.empty() ? file : fmt::format(" and no {}", file);
  }
  if (!missing.empty()) {
    throw fail(ErrorCode::io, kWhere,
               "expected the directory of a run (with {}, {} and {}) but '{}' has no {}", kConfig,
               kFacts, kMetrics, directory, missing);
  }
}

struct Setting {
  toml::source_position where;
  std::string key;
  std::string value;
};

std::string shown(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  // toml++ writes 17 digits, 0.1 as 0.10000000000000001.
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  std::ostringstream out;
  node.visit([&](const auto& value) { out << value; });
  return out.str();
}

void collect(const toml::table& table, const std::string& prefix, std::vector<Setting>& into) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    if (const auto* inner = node.as_table()) {
      collect(*inner, name + ".", into);
    } else {
      into.push_back({node.source().begin, name, shown(node)});
    }
  }
}

/// A toml::table is sorted by key; people expect the order of the file.
std::vector<std::pair<std::string, std::string>> read_settings(const std::string& path) {
  std::vector<Setting> found;
  try {
    collect(toml::parse(cli::read_text(path), path), "", found);
  } catch (const toml::parse_error& error) {
    throw fail(ErrorCode::corrupt, kWhere,
               "expected 'key = value' lines in '{}' but received, in line {}: {}", path,
               error.source().begin.line, error.description());
  }
  std::ranges::sort(found, {}, [](const Setting& setting) {
    return std::pair(setting.where.line, setting.where.column);
  });
  std::vector<std::pair<std::string, std::string>> settings;
  settings.reserve(found.size());
  for (Setting& setting : found) {
    settings.emplace_back(std::move(setting.key), std::move(setting.value));
  }
  return settings;
}

std::string name_of(const fs::path& directory, const nlohmann::ordered_json& facts) {
  if (facts.contains("name") && facts["name"].is_string()) {
    const auto name = facts["name"].get<std::string>();
    if (!name.empty()) return name;
  }
  std::error_code failed;
  const fs::path whole = fs::weakly_canonical(directory, failed);
  return (failed ? directory : whole).filename().string();
}

}  // namespace

std::string RunRecord::setting(std::string_view key) const {
  const auto found =
      std::ranges::find_if(settings, [&](const auto& setting) { return setting.first == key; });
  return found == settings.end() ? std::string() : found->second;
}

void read_unfinished_run(const std::string& directory, RunRecord& run) {
  const fs::path root(directory);
  run.directory = directory;
  run.name = name_of(root, {});
  run.facts = nlohmann::ordered_json::object();
  run.settings = read_settings((root / kConfig).string());
  const std::string facts_path = (root / kFacts).string();
  if (fs::exists(facts_path)) {
    auto facts = cli::parse_json(cli::read_text(facts_path), facts_path);
    if (!facts.is_object()) {
      throw fail(ErrorCode::corrupt, kWhere, "expected a JSON object in '{}' but received {}",
                 facts_path, facts.type_name());
    }
    run.facts = std::move(facts);
  }
  run.name = name_of(root, run.facts);
  if (fs::exists(root / kMetrics)) run.metrics = read_metrics((root / kMetrics).string());
}

RunRecord read_run(const std::string& directory) {
  check_directory(directory);
  RunRecord run;
  read_unfinished_run(directory, run);
  return run;
}

}  // namespace bcos::lab::run
