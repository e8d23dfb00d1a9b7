#include "lab/report/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "lab/cli/human.hpp"
#include "lab/run/status.hpp"

namespace bcos::lab::report {
namespace {

constexpr std::size_t kMostInASentence = 6;
constexpr const char* kNothing = "–";

/// Digits after the point so that a loss shows four significant ones, at least three decimals.
int loss_decimals(double loss) {
  const double size = std::abs(loss);
  return size >= 0.1 || size == 0 ? 3
                                  : std::min(9, 3 - static_cast<int>(std::floor(std::log10(size))));
}

std::string steps_text(std::int64_t steps) {
  return fmt::format("{} step{}", count_text(static_cast<double>(steps)), steps == 1 ? "" : "s");
}

std::string state_clause(const Group& group) {
  return std::isfinite(group.state_bytes)
             ? fmt::format(" with {} of state", bytes_text(group.state_bytes))
             : "";
}

/// "mean of 2 seeds", "1 run each", "means of 1 to 3 runs".
std::string basis(const std::vector<const Group*>& groups) {
  const auto [least, most] =
      std::ranges::minmax(groups, {}, [](const Group* group) { return group->counted; });
  if (most->counted == 1) return "one run each";
  if (least->counted == most->counted) {
    return fmt::format("mean of {} runs each", most->counted);
  }
  return fmt::format("means of {} to {} runs", least->counted, most->counted);
}

}  // namespace

std::string loss_text(double loss) {
  if (!std::isfinite(loss)) return kNothing;
  return std::abs(loss) < 1e6 ? fmt::format("{:.{}f}", loss, loss_decimals(loss))
                              : fmt::format("{:.3g}", loss);
}

std::string loss_text(const Spread& loss) {
  if (!std::isfinite(loss.deviation)) return loss_text(loss.mean);
  std::string deviation = fmt::format("{:.{}f}", loss.deviation, loss_decimals(loss.mean));
  const bool vanished = deviation.find_first_not_of("0.") == std::string::npos;
  if (vanished && loss.deviation > 0) deviation = fmt::format("{:.1g}", loss.deviation);
  return fmt::format("{} ± {}", loss_text(loss.mean), deviation);
}

std::string percent_text(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : kNothing;
}

std::string percent_text(const Spread& share) {
  if (!std::isfinite(share.deviation)) return percent_text(share.mean);
  return fmt::format("{:.1f} ± {:.1f} %", 100 * share.mean, 100 * share.deviation);
}

std::string ms_text(double ms) {
  if (!std::isfinite(ms)) return kNothing;
  return ms < 10 ? fmt::format("{:.2f}", ms) : fmt::format("{:.1f}", ms);
}

std::string bytes_text(double bytes) {
  return std::isfinite(bytes) ? cli::human_bytes(bytes) : kNothing;
}

std::string number_text(double number) {
  return std::isfinite(number) ? fmt::format("{}", number) : kNothing;
}

std::string moment_text(double seconds) {
  if (!(std::abs(seconds) < 1e11)) return kNothing;
  const auto whole = static_cast<std::time_t>(std::floor(seconds));
  std::tm parts{};
  if (gmtime_r(&whole, &parts) == nullptr) return kNothing;
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

std::string count_text(double count) {
  if (!std::isfinite(count)) return kNothing;
  if (count != std::floor(count)) return fmt::format("{:.1f}", count);
  std::string digits = fmt::format("{:.0f}", std::abs(count));
  for (std::size_t from_end = 3; from_end < digits.size(); from_end += 4) {
    digits.insert(digits.size() - from_end, ",");
  }
  return (count < 0 ? "-" : "") + digits;
}

std::string run_verdict(const RunSummary& run) {
  if (run.state.status != run::Status::finished) {
    return fmt::format(
        "{}: {}.{}", run.method, run::state_text(run.state),
        std::isfinite(run.final_loss)
            ? fmt::format(" The last validation loss was {} at step {}.", loss_text(run.final_loss),
                          count_text(static_cast<double>(run.final_step)))
            : "");
  }
  if (run.steps == 0 && !std::isfinite(run.final_loss)) {
    return fmt::format("{} has not recorded a step yet.", run.method);
  }
  std::string text;
  if (std::isfinite(run.final_loss)) {
    text = fmt::format("{} ended at a validation loss of {} after {}", run.method,
                       loss_text(run.final_loss), steps_text(run.final_step));
    if (run.best_step != run.final_step) {
      text += fmt::format(" (best: {} at step {})", loss_text(run.best_loss),
                          count_text(static_cast<double>(run.best_step)));
    }
  } else {
    text = fmt::format("{} ran {} and has no finite validation loss at the end", run.method,
                       steps_text(run.steps));
  }
  if (std::isfinite(run.state_bytes)) {
    text += fmt::format(", with {} of optimizer state", bytes_text(run.state_bytes));
    if (std::isfinite(run.adamw_state_bytes) && run.adamw_state_bytes != run.state_bytes) {
      text += fmt::format("; AdamW would keep {}", bytes_text(run.adamw_state_bytes));
    }
  }
  text += ".";
  if (run.not_finite > 0) {
    text += fmt::format(" The training loss was not finite at {}.", steps_text(run.not_finite));
  }
  if (run.skipped > 0) {
    text += fmt::format(" The guard skipped {}.", steps_text(run.skipped));
  }
  if (run.cut_lines > 0) {
    text += fmt::format(" {} of its metrics could not be read and {} left out.",
                        run.cut_lines == 1 ? "One line" : fmt::format("{} lines", run.cut_lines),
                        run.cut_lines == 1 ? "is" : "are");
  }
  return text;
}

namespace {

/// One honest sentence about two groups: their difference, and how sure it is.
std::string difference_clause(const Comparison& comparison, const Group& one, const Group& other) {
  const Difference difference = difference_of(comparison, one, other);
  if (!std::isfinite(difference.mean)) return {};
  const std::string what =
      fmt::format(" {} less {}: {:+.4f}", one.method, other.method, difference.mean);
  if (!std::isfinite(difference.error)) {
    return what + " on one seed, which says nothing about others.";
  }
  return fmt::format("{} ± {:.4f} (standard error over {} seeds, compared seed by seed).", what,
                     difference.error, difference.seeds);
}

}  // namespace

namespace {

/// Whether a method has runs that may still come to their end.
bool has_unfinished(const Comparison& comparison, const std::string& method) {
  return std::ranges::any_of(comparison.runs, [&](const RunSummary& run) {
    const run::Status status = run.state.status;
    return run.method == method && status != run::Status::finished &&
           status != run::Status::diverged;
  });
}

}  // namespace

std::string comparison_verdict(const Comparison& comparison) {
  const std::vector<const Group*> best = comparison.best();
  std::string text;
  const bool many = best.size() > kMostInASentence;
  if (many) {
    const Group* least = *std::ranges::min_element(
        best, {}, [](const Group* group) { return group->final_loss.mean; });
    text =
        fmt::format("Of {} groups {} has the least final validation loss, {}{} ({}).", best.size(),
                    least->method, loss_text(least->final_loss), state_clause(*least), basis(best));
  }
  for (const Group* group : many ? std::vector<const Group*>() : best) {
    text += text.empty() ? fmt::format("{} ended at ", group->method)
                         : fmt::format(", {} at ", group->method);
    text += loss_text(group->final_loss.mean) + state_clause(*group);
  }
  const bool edge = std::ranges::any_of(best, [](const Group* group) { return group->edge; });
  if (!text.empty() && !many) {
    text += fmt::format(" (final validation loss at each method's best learning rate, {}).",
                        basis(best));
  }
  if (best.size() == 2) text += difference_clause(comparison, *best[1], *best[0]);
  if (edge) text += " A best rate at the edge of its grid may not be the best there is.";
  std::string without;
  std::string going_on;
  for (const std::string& method : comparison.methods()) {
    const auto is_of = [&](const Group* group) { return group->method == method; };
    if (std::ranges::any_of(best, is_of)) continue;
    std::string& list = has_unfinished(comparison, method) ? going_on : without;
    list += (list.empty() ? "" : ", ") + method;
  }
  if (!going_on.empty()) {
    text += fmt::format("{}Not all runs of {} have come to their end.", text.empty() ? "" : " ",
                        going_on);
  }
  if (!without.empty()) {
    text +=
        fmt::format("{}No learning rate of {} ended with a finite validation loss in every run.",
                    text.empty() ? "" : " ", without);
  }
  return text;
}

}  // namespace bcos::lab::report
