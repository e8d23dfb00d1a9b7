#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "lab/report/identity.hpp"
#include "lab/report/summary.hpp"

namespace bcos::lab::report {
namespace {

template <class Number>
std::vector<double> column(const Group& group, const std::vector<RunSummary>& runs,
                           Number RunSummary::* member) {
  std::vector<double> values;
  for (const std::size_t index : group.runs) {
    if (runs[index].counts) values.push_back(static_cast<double>(runs[index].*member));
  }
  return values;
}

/// What keeps a group from being whole, and how many of its runs count.
void count(Group& group, const std::vector<RunSummary>& runs) {
  std::map<std::string_view, std::size_t> others;
  for (const std::size_t index : group.runs) {
    const RunSummary& run = runs[index];
    const bool finished = run.state.status == run::Status::finished;
    group.counted += run.counts ? 1 : 0;
    group.expected += run.counts || !finished ? 1 : 0;
    if (!finished) ++others[run::name_of(run.state.status)];
  }
  for (const auto& [status, number] : others) {
    group.trouble += fmt::format("{}{} of {} {}", group.trouble.empty() ? "" : ", ", number,
                                 group.expected, status);
  }
}

void fill(Group& group, const std::vector<RunSummary>& runs) {
  count(group, runs);
  const bool diverged = group.trouble.find("diverged") != std::string::npos;
  if (!diverged && group.counted > 0) {
    group.final_loss = spread_of(column(group, runs, &RunSummary::final_loss));
    group.best_loss = spread_of(column(group, runs, &RunSummary::best_loss));
    group.final_accuracy = spread_of(column(group, runs, &RunSummary::final_accuracy));
  }
  group.spikes = spread_of(column(group, runs, &RunSummary::spikes)).mean;
  group.ms = spread_of(column(group, runs, &RunSummary::ms)).mean;
  group.optimizer_share = spread_of(column(group, runs, &RunSummary::optimizer_share)).mean;
  group.state_bytes = spread_of(column(group, runs, &RunSummary::state_bytes)).mean;
}

/// Of the groups of a method, whole ones before others: the one with the least loss. In a grid that
/// grew, rates that the other seeds did not run were only tried.
void mark_best(std::span<Group> groups) {
  Group* best = nullptr;
  std::size_t most = 0;
  for (const Group& group : groups) most = std::max(most, group.counted);
  for (Group& group : groups) {
    if (!std::isfinite(group.final_loss.mean) || !group.trouble.empty()) continue;
    if (group.counted < most) continue;
    if (best == nullptr || group.final_loss.mean < best->final_loss.mean) best = &group;
  }
  if (best == nullptr) return;
  best->best_lr = true;
  const bool end = best == &groups.front() || best == &groups.back();
  best->edge = groups.size() > 1 && end;
}

/// The same recipe and seed twice: the finished one counts, of two the one given later.
void leave_out_doubles(const std::vector<Identity>& identities, std::vector<RunSummary>& runs) {
  std::map<std::pair<std::string, std::string>, std::size_t> taken;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].counts) continue;
    const auto [place, is_new] =
        taken.emplace(std::pair(identities[i].series + identities[i].group, runs[i].seed), i);
    if (is_new) continue;
    runs[place->second].counts = false;
    place->second = i;
  }
}

void leave_out_chooser(Group& group, std::vector<RunSummary>& runs, std::uint64_t chooser) {
  const std::string seed = fmt::format("{}", chooser);
  const bool others = std::ranges::any_of(group.runs, [&](std::size_t index) {
    return runs[index].counts && runs[index].seed != seed;
  });
  if (!others) return;
  for (const std::size_t index : group.runs) {
    if (runs[index].seed == seed) runs[index].counts = false;
  }
}

/// By learning rate; what is not known goes last.
std::pair<double, std::size_t> order_of(const Group& group) {
  const double lr = std::isnan(group.lr) ? std::numeric_limits<double>::infinity() : group.lr;
  return {lr, group.runs.front()};
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

bool Comparison::decays_differ() const {
  std::set<std::string> rates;
  for (const Group& group : groups) {
    if (std::isfinite(group.decay_rate)) rates.insert(fmt::format("{:.6g}", group.decay_rate));
  }
  return rates.size() > 1;
}

Comparison compare_runs(std::span<const run::RunRecord> runs, const ComparisonOptions& options) {
  Comparison result;
  result.runs.reserve(runs.size());
  const std::vector<Identity> identities = identities_of(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    RunSummary& run = result.runs.emplace_back(summarize(runs[i]));
    run.method = identities[i].label;
    run.decay_rate = identities[i].decay_rate;
    run.counts = run.state.status == run::Status::finished;
  }
  leave_out_doubles(identities, result.runs);

  std::vector<std::string> series;
  for (const Identity& one : identities) {
    if (std::ranges::find(series, one.series) == series.end()) series.push_back(one.series);
  }
  for (const std::string& one : series) {
    std::vector<Group> groups;
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (identities[i].series != one) continue;
      const auto known = std::ranges::find(keys, identities[i].group);
      const auto at = static_cast<std::size_t>(known - keys.begin());
      if (known == keys.end()) {
        keys.push_back(identities[i].group);
        Group& group = groups.emplace_back();
        group.method = result.runs[i].method;
        group.lr = result.runs[i].lr;
        group.decay_rate = result.runs[i].decay_rate;
      }
      groups[at].runs.push_back(i);
    }
    for (Group& group : groups) {
      if (options.choosing_seed) leave_out_chooser(group, result.runs, *options.choosing_seed);
      fill(group, result.runs);
      group.rates = groups.size();
    }
    std::ranges::sort(groups, {}, order_of);
    mark_best(groups);
    std::ranges::move(groups, std::back_inserter(result.groups));
  }
  return result;
}

Difference difference_of(const Comparison& comparison, const Group& one, const Group& other) {
  std::vector<double> differences;
  for (const std::size_t a : one.runs) {
    for (const std::size_t b : other.runs) {
      const RunSummary& left = comparison.runs[a];
      const RunSummary& right = comparison.runs[b];
      if (!left.counts || !right.counts || left.seed != right.seed) continue;
      differences.push_back(left.final_loss - right.final_loss);
    }
  }
  const Spread spread = spread_of(differences);
  return {spread.mean, spread.deviation / std::sqrt(static_cast<double>(differences.size())),
          differences.size()};
}

}  // namespace bcos::lab::report
