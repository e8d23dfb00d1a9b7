#include "lab/run/metrics.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "engine/error.hpp"
#include "engine/strict_json.hpp"
#include "lab/cli/files.hpp"

namespace bcos::lab::run {
namespace {

constexpr std::string_view kWhere = "read_metrics";
constexpr std::size_t kLongestLine = std::size_t{64} << 20;

/// What a line does not say as it should.
struct Unreadable {};

double real(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return kNoNumber;
  if (!found->is_number()) throw Unreadable{};
  return found->get<double>();
}

std::int64_t count(const nlohmann::json& object, const char* key) {
  constexpr auto kMost = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  const auto found = object.find(key);
  const bool whole = found != object.end() && found->is_number_unsigned();
  if (!whole || found->get<std::uint64_t>() > kMost) throw Unreadable{};
  return found->get<std::int64_t>();
}

bool flag(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

bool is_text(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string();
}

void add_diagnosis(Metrics& metrics, const nlohmann::json& line) {
  DiagnosisPoint point{.step = count(line, "s"),
                       .kind = line["kind"].get<std::string>(),
                       .group = line["group"].get<std::string>(),
                       .values = {}};
  for (const auto& [key, value] : line.items()) {
    if (key != "s" && value.is_number()) point.values[key] = value.get<double>();
  }
  metrics.diagnosis.push_back(std::move(point));
}

void add_line(Metrics& metrics, const nlohmann::json& line) {
  if (!line.is_object()) throw Unreadable{};
  if (is_text(line, "kind") && is_text(line, "group")) return add_diagnosis(metrics, line);
  const bool train = line.contains("trl");
  const bool eval = line.contains("tel");
  if (!train && !eval) return;
  const std::int64_t step = count(line, "s");
  if (train) {
    metrics.train.push_back({.step = step,
                             .loss = real(line, "trl"),
                             .lr = real(line, "lr"),
                             .norm = real(line, "norm"),
                             .clipped = flag(line, "clipped"),
                             .skipped = line.contains("skipped") ? count(line, "skipped") : 0,
                             .ms = real(line, "ms"),
                             .opt_ms = real(line, "opt_ms"),
                             .rate = real(line, "rate")});
  }
  if (eval) {
    metrics.eval.push_back(
        {.step = step, .loss = real(line, "tel"), .accuracy = real(line, "acc")});
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

/// Adds a line of the file; false if it is not one.
bool is_read(Metrics& metrics, std::string_view words, const std::string& path) {
  try {
    add_line(metrics, parse_strict(words, kWhere, fmt::format(" in {}", path)));
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  } catch (const Error&) {  // nested beyond reason
    return false;
  } catch (const Unreadable&) {
    return false;
  }
}

}  // namespace

Metrics parse_metrics(std::string_view text, const std::string& path) {
  Metrics metrics;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool unfinished = end == std::string_view::npos;
    const std::string_view words = text.substr(0, end);
    text.remove_prefix(unfinished ? text.size() : end + 1);
    if (words.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (words.size() > kLongestLine) {
      throw fail(ErrorCode::corrupt, kWhere,
                 "expected lines of at most {} MB in '{}' but received "
                 "one of {} MB",
                 kLongestLine >> 20, path, words.size() >> 20);
    }
    if (!is_read(metrics, words, path) && !unfinished) ++metrics.cut_lines;
  }
  settle(metrics.train);
  settle(metrics.eval);
  settle(metrics.diagnosis);
  return metrics;
}

Metrics read_metrics(const std::string& path) { return parse_metrics(cli::read_text(path), path); }

}  // namespace bcos::lab::run
