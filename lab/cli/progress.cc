#include "lab/cli/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace bcos::lab::cli {
namespace {

constexpr std::string_view kHideCursor = "\x1b[?25l";
constexpr std::string_view kShowCursor = "\x1b[?25h";
constexpr std::string_view kEraseRest = "\x1b[K";

/// The rate is the median over this many stretches of time, so that a pause for a checkpoint does
/// not move it.
constexpr std::size_t kSamples = 31;
constexpr double kSampleSeconds = 0.5;

constexpr int kNarrowestBar = 8;
constexpr int kColumnsForABar = 50;

void write_to_terminal(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(STDERR_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // a bar that cannot be seen is no reason to stop
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

/// A dumb terminal has no way to redraw a line.
Terminal look_at_standard_error() {
  const char* term = std::getenv("TERM");
  Terminal result = error_terminal();
  result.present =
      result.present && term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
  result.colour = result.colour && result.present;
  return result;
}

std::string bar(double part, int columns, const Terminal& terminal) {
  static constexpr std::array<std::string_view, 8> kEighths = {"",  "▏", "▎", "▍",
                                                               "▌", "▋", "▊", "▉"};
  const int steps = terminal.unicode ? 8 : 1;
  const int filled = static_cast<int>(part * columns * steps);
  std::string done;
  for (int i = 0; i < filled / steps; ++i) done += terminal.unicode ? "█" : "#";
  int left = columns - filled / steps;
  if (filled % steps != 0) {
    done += kEighths[static_cast<std::size_t>(filled % steps)];
    --left;
  }
  const std::string rest(static_cast<std::size_t>(left), terminal.unicode ? ' ' : '.');
  return coloured(done, Colour::cyan, terminal) + rest;
}

}  // namespace

ProgressScreen standard_error() {
  return {look_at_standard_error, write_to_terminal, [] {
            const auto now = std::chrono::steady_clock::now().time_since_epoch();
            return std::chrono::duration<double>(now).count();
          }};
}

void restore_cursor() noexcept {
  if (::isatty(STDERR_FILENO) == 1) write_to_terminal(kShowCursor);
}

Progress::Progress(std::uint64_t total, Style style)
    : total_(total),
      style_(std::move(style)),
      drawn_(style_.screen.look().present),
      start_(style_.screen.seconds()) {}

Progress::~Progress() {
  try {
    finish();
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for the last picture
  }
}

void Progress::update(std::uint64_t done, std::string_view text) {
  if (!drawn_ || finished_) return;
  const double now = style_.screen.seconds();
  done_ = done;
  text_ = text;
  sample(now);
  const bool first = !begun_;
  begun_ = true;
  if (first || now - last_draw_ >= style_.redraw_seconds) draw(now);
}

void Progress::line(std::string_view text) {
  std::string out = on_screen_ ? fmt::format("\r{}", kEraseRest) : std::string();
  out += text;
  out += '\n';
  style_.screen.write(out);
  if (on_screen_) draw(style_.screen.seconds());
}

void Progress::finish() {
  if (finished_) return;
  finished_ = true;
  if (!on_screen_) return;
  draw(style_.screen.seconds());
  style_.screen.write(fmt::format("\n{}", kShowCursor));
}

void Progress::sample(double now) {
  if (!samples_.empty() && now - samples_.back().seconds < kSampleSeconds) return;
  // Work that goes back, as a run may to an earlier checkpoint, is measured anew.
  if (!samples_.empty() && done_ < samples_.back().done) samples_.clear();
  samples_.push_back({now, done_});
  if (samples_.size() > kSamples) samples_.pop_front();
}

/// NaN while it cannot be known.
double Progress::seconds_left() const {
  std::vector<double> rates;
  for (std::size_t i = 1; i < samples_.size(); ++i) {
    const double amount = static_cast<double>(samples_[i].done - samples_[i - 1].done);
    rates.push_back(amount / (samples_[i].seconds - samples_[i - 1].seconds));
  }
  if (rates.empty() || total_ < done_) return std::nan("");
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::ranges::nth_element(rates, middle);
  return static_cast<double>(total_ - done_) / *middle;
}

std::string Progress::picture(const Terminal& terminal, double now) const {
  // A terminal may go to the next line as soon as the last column is filled.
  const int columns = std::max(terminal.columns - 1, 0);
  std::string head;
  std::string counts = std::to_string(done_);
  std::string times = human_time(now - start_);
  int used = 0;
  if (total_ > 0) {
    const double part = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
    const double left = seconds_left();
    head = fmt::format("{:3}% ", static_cast<int>(part * 100));
    used = display_columns(head);
    if (columns >= kColumnsForABar) {
      const int width = std::max(kNarrowestBar, std::min(columns / 4, style_.widest_bar));
      head += bar(part, width, terminal) + " ";
      used += width + 1;
    }
    counts += fmt::format("/{}", total_);
    if (std::isfinite(left)) times += fmt::format(", {} left", human_time(left));
  }
  constexpr int kGaps = 4;
  const int room = columns - used - display_columns(counts) - display_columns(times) - kGaps;
  const std::string text = fitted(visible(text_), std::max(room, 0), terminal.unicode);
  const std::string tail = text.empty() ? fmt::format("{}  {}", counts, times)
                                        : fmt::format("{}  {}  {}", counts, text, times);
  if (used > columns) return {};
  return head + fitted(tail, columns - used, terminal.unicode);
}

void Progress::draw(double now) {
  const Terminal terminal = style_.screen.look();
  style_.screen.write(
      fmt::format("{}\r{}{}", on_screen_ ? "" : kHideCursor, picture(terminal, now), kEraseRest));
  on_screen_ = true;
  last_draw_ = now;
}

}  // namespace bcos::lab::cli
