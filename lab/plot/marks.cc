#include "lab/plot/marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bcos::lab::plot {
namespace {

using Mark = Figure::Mark;
using Series = Figure::Series;

constexpr int kColours = 8;
constexpr int kShapes = 8;
constexpr std::size_t kFewPoints = 12;  // are drawn larger
constexpr const char* kDashes[] = {"7 4", "2 3", "9 3 2 3", "12 5", "4 2"};

struct Point {
  double x;
  double y;
};

std::size_t count_of(const Series& series) { return std::min(series.x.size(), series.y.size()); }

/// A point's sign around (x, y), all of about the same size.
std::string sign_of(int shape, double x, double y, double scale = 1) {
  constexpr const char* kPaths[kShapes] = {
      "M-3,0A3,3 0 1 1 3,0A3,3 0 1 1 -3,0Z",
      "M-3,-3H3V3H-3Z",
      "M0,-4L3.8,3H-3.8Z",
      "M0,-4.2L4.2,0L0,4.2L-4.2,0Z",
      "M0,4L3.8,-3H-3.8Z",
      "M-1,-4H1V-1H4V1H1V4H-1V1H-4V-1H-1Z",
      "M-3.5,-2.1l1.4,-1.4l2.1,2.1l2.1,-2.1l1.4,1.4l-2.1,2.1l2.1,2.1l-1.4,1.4l-2.1,-2.1l-2.1,2.1Z",
      "M-4.5,-1.4H4.5V1.4H-4.5Z"};
  return fmt::format("<path class=\"point\" transform=\"translate({:.2f},{:.2f}){}\" d=\"{}\"/>\n",
                     x, y, scale == 1 ? "" : fmt::format(" scale({})", scale),
                     kPaths[shape % kShapes]);
}

/// The drawable stretches of a series.
std::vector<std::vector<Point>> stretches_of(const Series& series, const Frame& frame) {
  std::vector<std::vector<Point>> stretches(1);
  for (std::size_t i = 0; i < count_of(series); ++i) {
    if (frame.has(series.x[i], series.y[i])) {
      stretches.back().push_back({frame.across(series.x[i]), frame.down(series.y[i])});
    } else if (!stretches.back().empty()) {
      stretches.emplace_back();
    }
  }
  if (stretches.back().empty()) stretches.pop_back();
  return stretches;
}

std::string lines_of(const Series& series, const Look& look, const Frame& frame) {
  const std::string dash =
      series.mark == Mark::dashed
          ? fmt::format(" stroke-dasharray=\"{}\"", kDashes[look.dash % std::size(kDashes)])
          : "";
  std::string out;
  for (const auto& stretch : stretches_of(series, frame)) {
    if (stretch.size() == 1) {
      out += sign_of(look.shape, stretch[0].x, stretch[0].y);
      continue;
    }
    std::string points;
    for (const Point& point : stretch) points += fmt::format("{:.2f},{:.2f} ", point.x, point.y);
    points.pop_back();
    out += fmt::format("<polyline class=\"line\"{} points=\"{}\"/>\n", dash, points);
    if (!look.dotted || series.mark == Mark::dashed) continue;
    // Equally far apart on the picture, not in the series.
    constexpr double kEvery = 90;
    double wanted = stretch[0].x + 15 + std::fmod(look.shape * 37.0, kEvery);
    for (const Point& point : stretch) {
      if (point.x < wanted) continue;
      out += sign_of(look.shape, point.x, point.y);
      while (wanted <= point.x) wanted += kEvery;
    }
  }
  return out;
}

std::string points_of(const Series& series, const Look& look, const Frame& frame) {
  const double scale = count_of(series) <= kFewPoints ? 1.5 : 1;
  std::string out;
  for (std::size_t i = 0; i < count_of(series); ++i) {
    if (!frame.has(series.x[i], series.y[i])) continue;
    out += sign_of(look.shape, frame.across(series.x[i]), frame.down(series.y[i]), scale);
  }
  return out;
}

std::string band_of(const Series& series, const Frame& frame) {
  std::string out;
  std::string there;
  std::string back;
  const auto close = [&] {
    if (!there.empty()) out += fmt::format("<path class=\"band\" d=\"M{}{}Z\"/>\n", there, back);
    there.clear();
    back.clear();
  };
  for (std::size_t i = 0; i < std::min(count_of(series), series.y2.size()); ++i) {
    if (!frame.has(series.x[i], series.y[i]) || !frame.y.has(series.y2[i])) {
      close();
      continue;
    }
    const double x = frame.across(series.x[i]);
    there += fmt::format("{}{:.2f},{:.2f}", there.empty() ? "" : "L", x, frame.down(series.y[i]));
    back = fmt::format("L{:.2f},{:.2f}", x, frame.down(series.y2[i])) + back;
  }
  close();
  return out;
}

std::string arrow(Point from, Point to) {
  const double angle = std::atan2(to.y - from.y, to.x - from.x);
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const double head = std::min(5.0, length / 2);
  const auto wing = [&](double side) {
    const double away = angle + side * (std::numbers::pi - 0.45);
    return Point{to.x + head * std::cos(away), to.y + head * std::sin(away)};
  };
  const Point one = wing(1);
  const Point other = wing(-1);
  return fmt::format(
      "<path class=\"arrow\" d=\"M{:.2f},{:.2f}L{:.2f},{:.2f}M{:.2f},{:.2f}L{:.2f},{:.2f}L{:.2f},{"
      ":.2f}\"/>\n",
      from.x, from.y, to.x, to.y, one.x, one.y, to.x, to.y, other.x, other.y);
}

std::string arrows_of(const Series& series, const Frame& frame) {
  std::string out;
  const std::size_t count = std::min({count_of(series), series.dx.size(), series.dy.size()});
  for (std::size_t i = 0; i < count; ++i) {
    const double x = series.x[i];
    const double y = series.y[i];
    const double to_x = x + series.dx[i];
    const double to_y = y + series.dy[i];
    if (!frame.has(x, y) || !frame.has(to_x, to_y)) continue;
    out += arrow({frame.across(x), frame.down(y)}, {frame.across(to_x), frame.down(to_y)});
  }
  return out;
}

std::string grouped(const Look& look, const std::string& elements) {
  return elements.empty() ? "" : fmt::format("<g class=\"{}\">\n{}</g>\n", look.colour, elements);
}

}  // namespace

std::vector<Look> looks_of(const Figure& figure) {
  std::vector<Look> looks;
  for (const Series& series : figure.series) {
    auto look = std::ranges::find(looks, series.label, &Look::label);
    if (look == looks.end()) look = looks.insert(looks.end(), Look{.label = series.label});
    if (std::ranges::find(look->marks, series.mark) == look->marks.end()) {
      look->marks.push_back(series.mark);
    }
  }
  const auto has = [](const Look& look, Mark mark) {
    return std::ranges::find(look.marks, mark) != look.marks.end();
  };
  const auto lines = std::ranges::count_if(
      looks, [&](const Look& look) { return !look.label.empty() && has(look, Mark::line); });
  int labelled = 0;
  int dashed = 0;
  for (Look& look : looks) {
    if (has(look, Mark::dashed)) look.dash = dashed++;
    look.colour = fmt::format("c{}", labelled % kColours);
    if (look.label.empty()) {
      if (looks.size() > 1) look.colour = "plain";
      continue;
    }
    look.dotted = lines > 1 && labelled > 0 && !has(look, Mark::points);
    look.shape = labelled++;
  }
  return looks;
}

std::string marks_of(const Series& series, const Look& look, const Frame& frame) {
  switch (series.mark) {
    case Mark::points:
      return grouped(look, points_of(series, look, frame));
    case Mark::band:
      return grouped(look, band_of(series, frame));
    case Mark::arrows:
      return grouped(look, arrows_of(series, frame));
    default:
      return grouped(look, lines_of(series, look, frame));
  }
}

std::string swatch_of(const Look& look, double x, double y) {
  std::string out;
  for (const Mark mark : look.marks) {
    switch (mark) {
      case Mark::band:
        out += fmt::format("<path class=\"band\" d=\"M{:.1f},{:.1f}h28v10h-28Z\"/>\n", x, y - 5);
        break;
      case Mark::points:
        out += sign_of(look.shape, x + 14, y);
        break;
      case Mark::arrows:
        out += arrow({x + 2, y}, {x + 26, y});
        break;
      default:
        out += fmt::format(
            "<path class=\"line\"{} d=\"M{:.1f},{:.1f}h28\"/>\n",
            mark == Mark::dashed
                ? fmt::format(" stroke-dasharray=\"{}\"", kDashes[look.dash % std::size(kDashes)])
                : "",
            x, y);
        if (look.dotted && mark == Mark::line) out += sign_of(look.shape, x + 14, y);
    }
  }
  return grouped(look, out);
}

}  // namespace bcos::lab::plot
