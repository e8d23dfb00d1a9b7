#include "lab/report/metrics.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "engine/error.hpp"
#include "engine/strict_json.hpp"
#include "lab/cli/files.hpp"
#include "lab/cli/output.hpp"

namespace bcos::lab {
namespace {

constexpr std::string_view kWhere = "read_metrics";

/// One line and where it stands, for messages.
struct Line {
  const nlohmann::json& object;
  const std::string& path;
  std::int64_t number;

  template <class... Args>
  Error error(fmt::format_string<Args...> format, Args&&... args) const {
    return fail(ErrorCode::corrupt, kWhere, "{} in line {} of '{}'",
                fmt::format(format, std::forward<Args>(args)...), number, path);
  }

  double real(const char* key) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return kNoNumber;
    if (!found->is_number()) {
      throw error("expected '{}' as a number but received {}", key, found->type_name());
    }
    return found->get<double>();
  }

  std::int64_t count(const char* key) const {
    const auto found = object.find(key);
    if (found == object.end()) throw error("expected '{}' but received a line without it", key);
    const bool whole = found->is_number_integer();
    const bool large =
        found->is_number_unsigned() &&
        found->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    if (!whole || large || found->get<std::int64_t>() < 0) {
      throw error("expected '{}' as a whole number from 0 but received {}", key,
                  whole ? found->dump() : found->type_name());
    }
    return found->get<std::int64_t>();
  }

  bool flag(const char* key) const {
    const auto found = object.find(key);
    return found != object.end() && found->is_boolean() && found->get<bool>();
  }
};

bool is_text(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string();
}

void add_diagnosis(Metrics& metrics, const Line& line) {
  DiagnosisPoint point{.step = line.count("s"),
                       .kind = line.object["kind"].get<std::string>(),
                       .group = line.object["group"].get<std::string>(),
                       .values = {}};
  for (const auto& [key, value] : line.object.items()) {
    if (key != "s" && value.is_number()) point.values[key] = value.get<double>();
  }
  metrics.diagnosis.push_back(std::move(point));
}

void add_line(Metrics& metrics, const Line& line) {
  if (is_text(line.object, "kind") && is_text(line.object, "group")) {
    return add_diagnosis(metrics, line);
  }
  const bool train = line.object.contains("trl");
  const bool eval = line.object.contains("tel");
  if (!train && !eval) return;
  const std::int64_t step = line.count("s");
  if (train) {
    metrics.train.push_back({.step = step,
                             .loss = line.real("trl"),
                             .lr = line.real("lr"),
                             .norm = line.real("norm"),
                             .clipped = line.flag("clipped"),
                             .skipped = line.object.contains("skipped") ? line.count("skipped") : 0,
                             .ms = line.real("ms"),
                             .opt_ms = line.real("opt_ms"),
                             .rate = line.real("rate")});
  }
  if (eval) {
    metrics.eval.push_back({.step = step, .loss = line.real("tel"), .accuracy = line.real("acc")});
  }
}

/// By step; of equal steps the last that was written.
template <class Point>
void settle(std::vector<Point>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(points[i].step, i); });
  std::vector<Point> settled;
  for (const std::size_t i : order) {
    if (!settled.empty() && settled.back().step == points[i].step) settled.pop_back();
    settled.push_back(points[i]);
  }
  points = std::move(settled);
}

void settle(std::vector<DiagnosisPoint>& points) {
  std::map<std::tuple<std::int64_t, std::string, std::string>, DiagnosisPoint> merged;
  for (DiagnosisPoint& point : points) {
    DiagnosisPoint& into = merged[{point.step, point.kind, point.group}];
    for (const auto& [key, value] : into.values) point.values.emplace(key, value);
    into = std::move(point);
  }
  points.clear();
  for (auto& [place, point] : merged) points.push_back(std::move(point));
}

}  // namespace

Metrics parse_metrics(std::string_view text, const std::string& path) {
  Metrics metrics;
  std::int64_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool cut = end == std::string_view::npos;
    const std::string_view words = text.substr(0, end);
    text.remove_prefix(cut ? text.size() : end + 1);
    ++number;
    if (words.find_first_not_of(" \t\r") == std::string_view::npos) continue;

    nlohmann::json object;
    try {
      object = parse_strict(words, kWhere, fmt::format(" in {}", path));
    } catch (const nlohmann::json::exception&) {
      if (cut) break;
      throw fail(ErrorCode::corrupt, kWhere,
                 "expected a JSON object in line {} of '{}' but received '{}'; remove the damaged "
                 "line to read the rest",
                 number, path, visible(words.substr(0, 60)));
    }
    const Line line{object, path, number};
    if (!object.is_object()) {
      throw line.error("expected a JSON object but received {}", object.type_name());
    }
    add_line(metrics, line);
  }
  settle(metrics.train);
  settle(metrics.eval);
  settle(metrics.diagnosis);
  return metrics;
}

Metrics read_metrics(const std::string& path) { return parse_metrics(read_text(path), path); }

}  // namespace bcos::lab
