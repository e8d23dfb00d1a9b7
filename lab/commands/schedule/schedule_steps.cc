#include "lab/commands/schedule/schedule_steps.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bcos/text.hpp"

namespace bcos::lab::commands {
namespace {

constexpr std::uint64_t kMostPoints = 1000;

/// Steps around which the curve may jump or bend.
std::vector<std::uint64_t> corners(const Schedule& schedule) {
  std::vector<std::uint64_t> steps = schedule.milestones;
  steps.push_back(schedule.warmup);
  steps.push_back(schedule.total);
  if (schedule.curve == Curve::wsd) {
    const std::uint64_t decay =
        schedule.decay_steps != 0 ? schedule.decay_steps : (schedule.total + 2) / 5;
    steps.push_back(schedule.total - std::min(decay, schedule.total));
  }
  return steps;
}

}  // namespace

std::uint64_t natural_steps(const Schedule& schedule) {
  if (schedule.total > 0) return schedule.total;
  if (!schedule.milestones.empty()) {
    const std::uint64_t last = schedule.milestones.back();
    return last + last / 4 + 1;
  }
  return std::max<std::uint64_t>(100, 2 * schedule.warmup);
}

std::uint64_t round_every(std::uint64_t steps, std::uint64_t rows) {
  for (std::uint64_t power = 1;; power *= 10) {
    // 2.5, 25, 250, ... has its place only where it is whole.
    for (const std::uint64_t twentieths : {20, 40, 50, 100}) {
      if (power == 1 && twentieths == 50) continue;
      const std::uint64_t every = twentieths * power / 20;
      if (steps / every + (steps % every != 0) <= rows) return every;
    }
  }
}

std::vector<std::uint64_t> shown_steps(std::uint64_t steps, std::uint64_t every) {
  std::vector<std::uint64_t> shown;
  for (std::uint64_t t = 0; t < steps; t += every) {
    shown.push_back(t);
    if (every > steps - t) break;  // t + every may not be a number any more
  }
  if (steps > 0 && shown.back() != steps - 1) shown.push_back(steps - 1);
  return shown;
}

std::string title_of(const Schedule& schedule) {
  const auto usual = nlohmann::ordered_json::parse(to_json(Schedule{}));
  const auto given = nlohmann::ordered_json::parse(to_json(schedule));
  std::string title(name(schedule.curve));
  for (const auto& [key, value] : given.items()) {
    if (key == "curve" || (value == usual.at(key) && key != "alpha_max")) continue;
    title += ", " + key + " " + (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return title;
}

plot::LinePlot plot_of(const Schedule& schedule, std::uint64_t steps) {
  std::vector<std::uint64_t> drawn = shown_steps(steps, (steps + kMostPoints - 1) / kMostPoints);
  for (const std::uint64_t corner : corners(schedule)) {
    for (const std::uint64_t before : {0, 1}) {
      if (corner >= before && corner - before < steps) drawn.push_back(corner - before);
    }
  }
  std::ranges::sort(drawn);
  const auto repeated = std::ranges::unique(drawn);
  drawn.erase(repeated.begin(), repeated.end());

  plot::LinePlot plot{title_of(schedule), "step t", "alpha", {}};
  for (const std::uint64_t t : drawn) {
    plot.points.push_back({static_cast<double>(t), alpha_at(schedule, t)});
  }
  return plot;
}

}  // namespace bcos::lab::commands
