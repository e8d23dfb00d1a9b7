#include "lab/report/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace bcos::lab::report {
namespace {

constexpr std::size_t kWindow = 50;
constexpr double kDeviations = 6;
constexpr double kMadToDeviation = 1.4826;  // of a normal distribution
constexpr double kTrainLossWeight = 0.95;

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

double spike_limit(std::span<const double> window) {
  std::vector<double> values(window.begin(), window.end());
  const double centre = median(values);
  for (double& value : values) value = std::abs(value - centre);
  return centre + kDeviations * kMadToDeviation * median(values);
}

std::string text_fact(const run::RunRecord& run, const char* key) {
  const auto found = run.facts.find(key);
  if (found == run.facts.end() || found->is_null()) return {};
  return found->is_string() ? found->get<std::string>() : found->dump();
}

double number_fact(const run::RunRecord& run, const char* key) {
  const auto found = run.facts.find(key);
  return found != run.facts.end() && found->is_number() ? found->get<double>() : run::kNoNumber;
}

std::string first_of(std::initializer_list<std::string> candidates) {
  for (const std::string& text : candidates) {
    if (!text.empty()) return text;
  }
  return {};
}

double lr_of(const run::RunRecord& run) {
  const double fact = number_fact(run, "lr");
  if (std::isfinite(fact)) return fact;
  const std::string text = first_of({run.setting("lr"), run.setting("learning_rate")});
  double value = run::kNoNumber;
  const char* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (failed == std::errc() && stop == end) return value;
  double largest = run::kNoNumber;
  for (const run::TrainPoint& point : run.metrics.train) largest = std::fmax(largest, point.lr);
  return largest;
}

void add_times(const std::vector<run::TrainPoint>& train, RunSummary& summary) {
  double total = 0;
  double timed_total = 0;
  double optimizer = 0;
  std::int64_t steps = 0;
  for (std::size_t i = train.size() > 1 ? 1 : 0; i < train.size(); ++i) {
    if (!std::isfinite(train[i].ms)) continue;
    total += train[i].ms;
    ++steps;
    if (!std::isfinite(train[i].opt_ms)) continue;
    timed_total += train[i].ms;
    optimizer += train[i].opt_ms;
  }
  if (steps > 0) summary.ms = total / static_cast<double>(steps);
  if (timed_total > 0) summary.optimizer_share = optimizer / timed_total;
}

void add_evaluations(const std::vector<run::EvalPoint>& eval, RunSummary& summary) {
  if (eval.empty()) return;
  summary.final_loss = eval.back().loss;
  summary.final_step = eval.back().step;
  summary.final_accuracy = eval.back().accuracy;
  for (const run::EvalPoint& point : eval) {
    if (!std::isfinite(point.loss) || point.loss >= summary.best_loss) continue;
    summary.best_loss = point.loss;
    summary.best_step = point.step;
  }
}

}  // namespace

std::int64_t count_spikes(std::span<const double> losses) {
  std::vector<double> finite;
  std::int64_t spikes = 0;
  for (const double loss : losses) {
    if (!std::isfinite(loss)) continue;
    if (finite.size() >= kWindow && loss > spike_limit(std::span(finite).last(kWindow))) ++spikes;
    finite.push_back(loss);
  }
  return spikes;
}

std::vector<double> smoothed(std::span<const double> values, double weight) {
  std::vector<double> result;
  result.reserve(values.size());
  double sum = 0;
  double weights = 0;
  for (const double value : values) {
    if (std::isfinite(value)) {
      sum = weight * sum + (1 - weight) * value;
      weights = weight * weights + (1 - weight);
    }
    result.push_back(weights > 0 ? sum / weights : run::kNoNumber);
  }
  return result;
}

RunSummary summarize(const run::RunRecord& run) {
  RunSummary summary;
  summary.method = first_of({text_fact(run, "method"), run.setting("method"),
                             run.setting("optimizer"), "unknown method"});
  summary.lr = lr_of(run);
  summary.seed = first_of({text_fact(run, "seed"), run.setting("seed")});
  summary.state_bytes = number_fact(run, "state_bytes");
  summary.adamw_state_bytes = number_fact(run, "adamw_state_bytes");

  std::vector<double> losses;
  losses.reserve(run.metrics.train.size());
  for (const run::TrainPoint& point : run.metrics.train) losses.push_back(point.loss);
  summary.steps = static_cast<std::int64_t>(losses.size());
  summary.spikes = count_spikes(losses);
  summary.not_finite =
      std::ranges::count_if(losses, [](double loss) { return !std::isfinite(loss); });
  if (!losses.empty()) {
    summary.final_train_loss = smoothed(losses, kTrainLossWeight).back();
    summary.skipped = run.metrics.train.back().skipped;
  }
  summary.cut_lines = run.metrics.cut_lines;
  summary.state = run.state;
  add_times(run.metrics.train, summary);
  add_evaluations(run.metrics.eval, summary);
  return summary;
}

}  // namespace bcos::lab::report
