#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "lab/cli/html.hpp"
#include "lab/cli/human.hpp"
#include "lab/plot/assets.hpp"
#include "lab/plot/formula_text.hpp"
#include "lab/plot/marks.hpp"

namespace bcos::lab::plot {
namespace {

using Mark = Figure::Mark;
using Scale = Figure::Scale;

constexpr double kWidth = 640;
constexpr double kRight = 618;
constexpr double kPlotHeight = 270;
constexpr double kLetter = 7.8;  // about the width of a letter of the usual size
constexpr int kTitleColumns = 70;
constexpr double kLine = 20;

/// The least and the largest of the numbers that can be drawn.
struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  bool empty() const { return least > most; }
};

struct Ranges {
  Range x;
  Range y;
};

Ranges ranges_of(const Figure& figure) {
  Ranges ranges;
  const Axis x{.scale = figure.x.scale};
  const Axis y{.scale = figure.y.scale};
  const auto add = [&](double at_x, double at_y) {
    if (!x.has(at_x) || !y.has(at_y)) return;
    ranges.x.add(at_x);
    ranges.y.add(at_y);
  };
  const auto at = [](const std::vector<double>& values, std::size_t i) {
    return i < values.size() ? values[i] : std::numeric_limits<double>::quiet_NaN();
  };
  for (const Figure::Series& series : figure.series) {
    for (std::size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i) {
      // What is drawn only whole counts only whole.
      const bool band = series.mark == Mark::band;
      const bool arrow = series.mark == Mark::arrows;
      const double other_x = series.x[i] + (arrow ? at(series.dx, i) : 0);
      const double other_y = band    ? at(series.y2, i)
                             : arrow ? series.y[i] + at(series.dy, i)
                                     : series.y[i];
      if (!x.has(other_x) || !y.has(other_y)) continue;
      if (!x.has(series.x[i]) || !y.has(series.y[i])) continue;
      add(series.x[i], series.y[i]);
      add(other_x, other_y);
    }
  }
  return ranges;
}

Axis fitted_axis(const Figure::Axis& wanted, Range range, int ticks, bool upright) {
  if (wanted.scale == Scale::log) {
    if (range.empty()) return log_axis_of(1, 10, ticks);
    // A little room, so that lines do not lie on the frame.
    const double room = upright ? std::pow(range.most / range.least, 0.04) : 1;
    const bool near = std::isfinite(room);
    return log_axis_of(near ? range.least / room : range.least,
                       near ? range.most * room : range.most, ticks);
  }
  if (range.empty()) return axis_of(0, 1, ticks, upright);
  const bool near_zero = range.least >= 0 && range.least <= range.most / 2;
  if (wanted.from_zero || (upright && near_zero)) range.add(0);
  return axis_of(range.least, range.most, ticks, upright);
}

class Picture {
 public:
  explicit Picture(const Figure& figure)
      : figure_(figure),
        title_(cli::wrapped(figure.title, kTitleColumns)),
        looks_(looks_of(figure)) {
    const Ranges ranges = ranges_of(figure);
    frame_.x = fitted_axis(figure.x, ranges.x, 7, false);
    frame_.y = fitted_axis(figure.y, ranges.y, 6, true);
    std::size_t longest = 3;
    for (const std::string& label : tick_labels(frame_.y)) {
      longest = std::max(longest, static_cast<std::size_t>(cli::display_columns(label)));
    }
    frame_.left = 22 + kLetter * static_cast<double>(longest);
    frame_.right = kRight;
    frame_.top = 42 + kLine * static_cast<double>(title_.size());
    frame_.bottom = frame_.top + kPlotHeight;
    height_ = frame_.bottom + 52;
  }

  std::string svg(bool with_style) {
    axes();
    // Areas below lines, lines below points.
    for (const Mark mark : {Mark::band, Mark::dashed, Mark::line, Mark::arrows, Mark::points}) {
      for (const Figure::Series& series : figure_.series) {
        if (series.mark == mark) out_ += marks_of(series, look_of(series.label), frame_);
      }
    }
    words();
    legend();
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n"
        "<desc>{3}</desc>\n{4}<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n{5}</svg>\n",
        kWidth, height_, cli::html_text(figure_.title), cli::html_text(figure_.caption),
        with_style ? fmt::format("<style>{}</style>\n", figure_css()) : "", out_);
  }

 private:
  const Look& look_of(const std::string& label) const {
    return *std::ranges::find(looks_, label, &Look::label);
  }

  void line(const char* kind, double x1, double y1, double x2, double y2) {
    out_ += fmt::format(
        "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kind, x1,
        y1, x2, y2);
  }
  /// `words` are markup.
  void text(double x, double y, const char* anchor, const std::string& words,
            const char* more = "") {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                        anchor, more, words);
  }

  void axes() {
    const Frame& f = frame_;
    const std::vector<std::string> below = tick_labels(f.x);
    for (std::size_t i = 0; i < below.size(); ++i) {
      const double at = f.across(f.x.ticks[i]);
      line("grid", at, f.top, at, f.bottom);
      line("axis", at, f.bottom, at, f.bottom + 5);
      text(at, f.bottom + 19, "middle", cli::html_text(below[i]));
    }
    const std::vector<std::string> beside = tick_labels(f.y);
    for (std::size_t i = 0; i < beside.size(); ++i) {
      const double at = f.down(f.y.ticks[i]);
      line("grid", f.left, at, f.right, at);
      line("axis", f.left - 5, at, f.left, at);
      text(f.left - 9, at + 4.5, "end", cli::html_text(beside[i]));
    }
    for (const double tick : f.x.small_ticks) {
      line("axis", f.across(tick), f.bottom, f.across(tick), f.bottom + 3);
    }
    for (const double tick : f.y.small_ticks) {
      line("axis", f.left - 3, f.down(tick), f.left, f.down(tick));
    }
    out_ += fmt::format("<path class=\"axis\" d=\"M{:.2f},{:.2f}V{:.2f}H{:.2f}\"/>\n", f.left,
                        f.top, f.bottom, f.right);
  }

  void words() {
    double at = 28;
    for (const std::string& words : title_) {
      text(kWidth / 2, at, "middle", formula_svg(words), " class=\"title\"");
      at += kLine;
    }
    text((frame_.left + frame_.right) / 2, frame_.bottom + 40, "middle",
         formula_svg(figure_.x.label));
    text(8, frame_.top - 12, "start", formula_svg(figure_.y.label));
  }

  /// In lines below the picture, as many labels a line as there is room for.
  void legend() {
    constexpr double kSwatch = 28;
    constexpr double kGap = 22;
    double x = frame_.left;
    double y = frame_.bottom + 66;
    for (const Look& look : looks_) {
      if (look.label.empty()) continue;
      const double wide = kSwatch + 8 + kLetter * formula_width(look.label);
      if (x > frame_.left && x + wide > kRight) {
        x = frame_.left;
        y += kLine;
      }
      out_ += swatch_of(look, x, y - 4.5);
      text(x + kSwatch + 8, y, "start", formula_svg(look.label));
      x += wide + kGap;
      height_ = y + 14;
    }
  }

  const Figure& figure_;
  std::vector<std::string> title_;
  std::vector<Look> looks_;
  Frame frame_;
  double height_ = 0;
  std::string out_;
};

}  // namespace

std::string svg_of(const Figure& figure) { return Picture(figure).svg(true); }

std::string inline_svg_of(const Figure& figure) { return Picture(figure).svg(false); }

}  // namespace bcos::lab::plot
