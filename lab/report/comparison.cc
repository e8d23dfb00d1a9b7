#include <algorithm>
#include <cmath>

#include "lab/report/summary.hpp"

namespace bcos::lab::report {
namespace {

bool same_lr(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

template <class Number>
std::vector<double> column(const Group& group, const std::vector<RunSummary>& runs,
                           Number RunSummary::* member) {
  std::vector<double> values;
  values.reserve(group.runs.size());
  for (const std::size_t index : group.runs) {
    values.push_back(static_cast<double>(runs[index].*member));
  }
  return values;
}

void fill(Group& group, const std::vector<RunSummary>& runs) {
  group.final_loss = spread_of(column(group, runs, &RunSummary::final_loss));
  group.best_loss = spread_of(column(group, runs, &RunSummary::best_loss));
  group.final_accuracy = spread_of(column(group, runs, &RunSummary::final_accuracy));
  group.spikes = spread_of(column(group, runs, &RunSummary::spikes)).mean;
  group.ms = spread_of(column(group, runs, &RunSummary::ms)).mean;
  group.optimizer_share = spread_of(column(group, runs, &RunSummary::optimizer_share)).mean;
  group.state_bytes = spread_of(column(group, runs, &RunSummary::state_bytes)).mean;
}

void mark_best(std::vector<Group>& groups, const std::string& method) {
  Group* best = nullptr;
  for (Group& group : groups) {
    if (group.method != method || !std::isfinite(group.final_loss.mean)) continue;
    if (best == nullptr || group.final_loss.mean < best->final_loss.mean) best = &group;
  }
  if (best != nullptr) best->best_lr = true;
}

}  // namespace

Spread spread_of(std::span<const double> values) {
  Spread spread;
  if (values.empty()) return spread;
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  if (!std::isfinite(sum)) return spread;
  spread.mean = sum / count;
  if (values.size() == 1) return spread;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / (count - 1));
  return spread;
}

std::vector<std::string> Comparison::methods() const {
  std::vector<std::string> names;
  for (const RunSummary& run : runs) {
    if (std::ranges::find(names, run.method) == names.end()) names.push_back(run.method);
  }
  return names;
}

std::vector<const Group*> Comparison::best() const {
  std::vector<const Group*> found;
  for (const Group& group : groups) {
    if (group.best_lr) found.push_back(&group);
  }
  return found;
}

Comparison compare_runs(std::span<const run::RunRecord> runs) {
  Comparison result;
  result.runs.reserve(runs.size());
  for (const run::RunRecord& run : runs) result.runs.push_back(summarize(run));

  for (const std::string& method : result.methods()) {
    std::vector<Group> groups;
    for (std::size_t i = 0; i < result.runs.size(); ++i) {
      const RunSummary& run = result.runs[i];
      if (run.method != method) continue;
      auto group = std::ranges::find_if(
          groups, [&](const Group& candidate) { return same_lr(candidate.lr, run.lr); });
      if (group == groups.end()) {
        group = groups.emplace(groups.end());
        group->method = method;
        group->lr = run.lr;
      }
      group->runs.push_back(i);
    }
    // An unknown lr goes last; NaN must not reach the comparison.
    std::ranges::sort(groups, {}, [](const Group& group) {
      return std::pair(std::isnan(group.lr), std::isnan(group.lr) ? 0.0 : group.lr);
    });
    for (Group& group : groups) fill(group, result.runs);
    mark_best(groups, method);
    std::ranges::move(groups, std::back_inserter(result.groups));
  }
  return result;
}

}  // namespace bcos::lab::report
