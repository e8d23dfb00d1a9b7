#include "bcos/methods.hpp"
#include "bcos/text.hpp"
#include "engine/error.hpp"
#include "lab/trace/trace.hpp"

namespace bcos::lab::trace {
namespace {

constexpr std::string_view kWhere = "trace";

/// A value, or the value that a name at the top level (or in one of its tables) stands for.
Json resolved(const Json& value, const Json& names, std::string_view key, const std::string& name) {
  if (!value.is_string()) return value;
  const auto found = names.find(value.get<std::string>());
  if (found == names.end()) {
    throw fail(kWhere, "expected {} of case '{}' to be defined in the file but received '{}'", key,
               name, value.get<std::string>());
  }
  return *found;
}

Numbers numbers(const Json& value, std::string_view key, const std::string& name) {
  if (!value.is_array()) {
    throw fail(kWhere, "expected {} of case '{}' as a list of numbers but received {}", key, name,
               value.type_name());
  }
  Numbers list;
  for (const Json& item : value) {
    if (!item.is_number()) {
      throw fail(kWhere, "expected numbers in {} of case '{}' but received {}", key, name,
                 item.type_name());
    }
    list.push_back(item.get<double>());
  }
  return list;
}

const Json& own_or_default(const Json& trace_case, const Json& file, const char* key,
                           const std::string& name) {
  if (trace_case.contains(key)) return trace_case.at(key);
  if (!file.contains(key)) {
    throw fail(kWhere, "expected {} in case '{}' or at the top of the file", key, name);
  }
  return file.at(key);
}

void check_length(std::size_t received, std::size_t expected, std::string_view key,
                  const std::string& name) {
  if (received != expected) {
    throw fail(ErrorCode::mismatch, kWhere,
               "expected {} entries in {} of case '{}' but received {}", expected, key, name,
               received);
  }
}

/// The same with all numbers: a trace may hold some that its method does not read.
Json with_all_numbers(Json config) {
  Method base;
  if (config.contains("method") && config["method"].is_string()) {
    base = method_by_name(config["method"].get<std::string>());
    config.erase("method");
  }
  Json whole = Json::parse(to_json(base));
  if (config.contains("eps")) whole["eps_root"] = 0;  // of the two, one alone turns the other off
  if (config.contains("eps_root")) whole["eps"] = 0;
  const bool shared = config.contains("rule") && config["rule"] == name(StepRule::two_est);
  if (shared && config.contains("beta")) whole["beta_v"] = config["beta"];
  whole.update(config);
  return whole;
}

Method method_of(Json config, const Json& file, const std::string& name) {
  static const Json kNone = Json::object();
  config.erase("grads");
  config.erase("max_norm");
  if (config.contains("blocks") && config["blocks"].is_string()) {
    const Json& named = file.contains("blocks") ? file.at("blocks") : kNone;
    if (named.contains(config["blocks"].get<std::string>())) {
      config["blocks"] = named.at(config["blocks"].get<std::string>());
    }
  }
  try {
    return method_from_json(with_all_numbers(config).dump());
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{} (case '{}')", error.what(), name));
  }
}

TraceCase read_case(const Json& entry, const Json& file) {
  TraceCase result;
  if (!entry.is_object() || !entry.contains("config") || !entry["config"].is_object()) {
    throw fail(kWhere, "expected every case to be an object with a config but received {}",
               entry.is_object() ? "an object without one" : entry.type_name());
  }
  if (entry.contains("name")) {
    if (!entry["name"].is_string()) {
      throw fail(kWhere, "expected the name of every case as a string but received {}",
                 entry["name"].dump());
    }
    result.name = entry["name"];
  }
  const Json& config = entry.at("config");
  result.method = method_of(config, file, result.name);
  if (config.contains("max_norm") && !config["max_norm"].is_null()) {
    if (!config["max_norm"].is_number()) {
      throw fail(kWhere, "expected max_norm of case '{}' as a number or null", result.name);
    }
    result.max_norm = config["max_norm"].get<double>();
  }
  result.x0 = numbers(own_or_default(entry, file, "x0", result.name), "x0", result.name);
  result.alpha = numbers(own_or_default(entry, file, "alpha", result.name), "alpha", result.name);
  const std::size_t n = result.x0.size();
  const std::size_t steps = result.alpha.size();

  const Json grads =
      resolved(config.contains("grads") ? config["grads"] : Json("G"), file, "grads", result.name);
  if (!grads.is_array()) {
    throw fail(kWhere, "expected grads of case '{}' as a list of gradients but received {}",
               result.name, grads.type_name());
  }
  check_length(grads.size(), steps, "grads", result.name);
  for (const Json& gradient : grads) {
    if (gradient.is_null()) {
      result.grads.emplace_back(std::nullopt);
      continue;
    }
    result.grads.emplace_back(numbers(gradient, "grads", result.name));
    check_length(result.grads.back()->size(), n, "a gradient", result.name);
  }
  if (result.method.estimator == Estimator::oracle) {
    const Json& oracle = own_or_default(entry, file, "oracle_d2", result.name);
    check_length(oracle.size(), steps, "oracle_d2", result.name);
    for (const Json& values : oracle) {
      result.oracle_d2.push_back(numbers(values, "oracle_d2", result.name));
      check_length(result.oracle_d2.back().size(), n, "oracle_d2", result.name);
    }
  }
  return result;
}

}  // namespace

std::vector<TraceCase> read_cases(const Json& file) {
  if (!file.is_object() || !file.contains("cases") || !file["cases"].is_array()) {
    throw fail(kWhere, "expected a JSON object with a list 'cases' but received {}",
               file.is_object() ? "one without it" : file.type_name());
  }
  std::vector<TraceCase> cases;
  for (const Json& entry : file["cases"]) cases.push_back(read_case(entry, file));
  return cases;
}

}  // namespace bcos::lab::trace
