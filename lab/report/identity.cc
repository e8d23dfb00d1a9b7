#include "lab/report/identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/error.hpp"
#include "lab/run/recipe.hpp"

namespace bcos::lab::report {
namespace {

using Keys = std::map<std::string, std::string>;

constexpr const char* kRate = "alpha x lambda";
constexpr const char* kFiles = "data files";
constexpr const char* kArithmetic = "arithmetic";

/// What a run says of itself, key by key.
struct Said {
  std::string method;
  Keys keys;
  double decay_rate = run::kNoNumber;
};

std::string fact_text(const run::RunRecord& record, const char* key) {
  const auto found = record.facts.find(key);
  if (found == record.facts.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

run::Settings settings_of(const run::RunRecord& record) {
  run::Settings settings;
  const std::string method = fact_text(record, "method");
  if (!method.empty()) settings.method = method;
  for (const auto& [key, value] : record.settings) {
    std::string text = value;
    std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == ' '; });
    const bool list = value.starts_with('[');
    try {
      run::set_field(settings, run::field_of(key), list ? text : value);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): of another version, or by hand
    }
  }
  return settings;
}

std::string digest_of(const std::string& text) {
  return run::Recipe{.trains = {{"", text}}, .numerics = {}, .seed = 0}.group_key();
}

/// A run whose run.json is lost is taken to have what the first other one has.
void fill_in(std::vector<Said>& all, const char* key) {
  const auto known = std::ranges::find_if(all, [&](const Said& said) {
    const auto found = said.keys.find(key);
    return found != said.keys.end() && !found->second.empty();
  });
  if (known == all.end()) return;
  const std::string value = known->keys.at(key);
  for (Said& said : all) {
    if (said.keys[key].empty()) said.keys[key] = value;
  }
}

Said said_by(const run::RunRecord& record) {
  Said said;
  said.method = fact_text(record, "method");
  for (const auto& [key, value] : record.settings) {
    if (said.method.empty() && (key == "method" || key == "optimizer")) said.method = value;
  }
  try {
    const run::Settings settings = settings_of(record);
    const run::Recipe recipe = run::recipe_of(settings);
    said.method = run::method_name(settings);
    said.keys = recipe.trains;
    said.keys.erase("method");
    const auto axes = nlohmann::ordered_json::parse(recipe.trains.at("method"));
    for (const auto& [key, value] : axes.items()) {
      said.keys[key] = value.is_string() ? value.get<std::string>() : value.dump();
    }
    said.decay_rate = run::decay_rate_of(settings);
    said.keys[kRate] = fmt::format("{:.6g}", said.decay_rate);
  } catch (const std::exception&) {
    for (const auto& [key, value] : record.settings) said.keys[key] = value;
    said.keys.erase("seed");
    said.keys["lr"] = fact_text(record, "lr");
  }
  const std::string files = fact_text(record, "data_files");
  if (!files.empty()) said.keys[kFiles] = digest_of(files);
  said.keys[kArithmetic] = fact_text(record, "arithmetic");
  if (const std::string branch = fact_text(record, "branched"); !branch.empty()) {
    said.keys["branched"] = branch;
  }
  if (said.method.empty()) said.method = "unknown method";
  return said;
}

std::string value_of(const Said& said, const std::string& key) {
  const auto found = said.keys.find(key);
  return found == said.keys.end() ? std::string() : found->second;
}

std::set<std::string> values_of(const std::vector<Said>& all, const std::string& method,
                                const std::string& key) {
  std::set<std::string> values;
  for (const Said& said : all) {
    if (method.empty() || said.method == method) values.insert(value_of(said, key));
  }
  return values;
}

/// The value that a recipe leaves out.
std::string usual_of(const std::string& key) {
  for (const run::Field& field : run::fields()) {
    if (field.key == key) return run::text_of(run::Settings{}, field);
  }
  return "none";
}

bool is_of_the_method(const std::string& key) {
  static const std::set<std::string> kKeys = {"direction", "estimator",
                                              "rule",      "decay",
                                              "start",     "coupled_start",
                                              "blocks",    "block_gain",
                                              "beta",      "beta_v",
                                              "eps",       "eps_root",
                                              "lambda",    "c",
                                              kRate,       "init_on_first_nonzero"};
  return kKeys.contains(key);
}

/// Keys that are not what tells series apart: lr, and of lambda and its product with alpha the one
/// that changes more with lr.
std::set<std::string> not_of_a_series(const std::vector<Said>& all, const std::string& method) {
  const bool by_rate =
      values_of(all, method, "lambda").size() > values_of(all, method, kRate).size();
  return {"lr", by_rate ? "lambda" : kRate};
}

}  // namespace

std::vector<Identity> identities_of(std::span<const run::RunRecord> runs) {
  std::vector<Said> all;
  all.reserve(runs.size());
  for (const run::RunRecord& record : runs) all.push_back(said_by(record));
  fill_in(all, kFiles);
  fill_in(all, kArithmetic);
  std::vector<Identity> identities;
  for (const Said& said : all) {
    const std::set<std::string> left_out = not_of_a_series(all, said.method);
    Identity one{
        .series = said.method, .group = {}, .label = said.method, .decay_rate = said.decay_rate};
    std::set<std::string> keys;
    for (const Said& other : all) {
      for (const auto& [key, value] : other.keys) keys.insert(key);
    }
    for (const std::string& key : keys) {
      const std::string value = value_of(said, key);
      if (left_out.contains(key)) {
        one.group += fmt::format("{}={};", key, value);
        continue;
      }
      one.series += fmt::format(";{}={}", key, value);
      const std::string among = is_of_the_method(key) ? said.method : "";
      if (values_of(all, among, key).size() > 1) {
        one.label += fmt::format(", {} {}", key, value.empty() ? usual_of(key) : value);
      }
    }
    identities.push_back(std::move(one));
  }
  return identities;
}

}  // namespace bcos::lab::report
