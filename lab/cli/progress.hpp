#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "lab/cli/human.hpp"
#include "lab/cli/output.hpp"

namespace bcos::lab::cli {

/// What a bar is drawn on, and by which clock; tests bring their own.
struct ProgressScreen {
  std::function<Terminal()> look;  ///< asked at every redraw: windows change their size
  std::function<void(std::string_view)> write;
  std::function<double()> seconds;  ///< from any beginning, never backwards
};

/// Standard error. TERM=dumb has no way to redraw a line and counts as no terminal.
ProgressScreen standard_error();

/// A bar on the last line of a terminal, for long work:
///
///      42% ██████████▌               420/1000  loss 2.314  lr 3.1e-3  1m 23s, 1m 54s left
///
/// Where there is no terminal nothing is drawn.
class Progress {
 public:
  struct Style {
    double redraw_seconds = 0.1;  ///< the least time between two redraws
    int widest_bar = 30;          ///< columns
    ProgressScreen screen = standard_error();
  };

  /// Total 0: it is not known how much there is to do, and no bar and no time left are shown.
  explicit Progress(std::uint64_t total) : Progress(total, Style()) {}
  Progress(std::uint64_t total, Style style);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Says how much is done and what else to show; cheap enough for every step. Text that does not
  /// fit is cut. The first call may start anywhere, as a resumed run does.
  void update(std::uint64_t done, std::string_view text);

  /// Prints a line above the bar, or just prints it where there is no bar.
  void line(std::string_view text);

  /// Draws the last state, leaves it on the screen and gives the cursor back. Once is enough.
  void finish();

  /// Whether there is a terminal to draw on; if not, the caller may print lines of its own.
  bool drawn() const { return drawn_; }

 private:
  struct Sample {
    double seconds;
    std::uint64_t done;
  };

  void sample(double now);
  double seconds_left() const;
  std::string picture(const Terminal& terminal, double now) const;
  void draw(double now);

  std::uint64_t total_;
  Style style_;
  bool drawn_;
  double start_;
  double last_draw_ = 0;
  bool on_screen_ = false;
  bool begun_ = false;
  bool finished_ = false;
  std::uint64_t done_ = 0;
  std::string text_;
  std::deque<Sample> samples_;
};

/// Shows the cursor again if standard error is a terminal. May be called by a signal handler that
/// is about to end the process.
void restore_cursor() noexcept;

}  // namespace bcos::lab::cli
