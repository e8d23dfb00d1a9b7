#include <algorithm>

#include "lab/commands/line_plot.hpp"
#include "lab/report/html.hpp"

namespace bcos::lab {
namespace {

constexpr double kWidth = 800;
constexpr double kHeight = 450;
constexpr double kLeft = 90;
constexpr double kRight = 770;
constexpr double kTop = 60;
constexpr double kBottom = 385;

constexpr std::size_t kLongTitle = 75;  // characters that fit in the usual size
constexpr std::size_t kLongestTitle = 105;

constexpr const char* kStyle =
    "text { font: 13px system-ui, sans-serif; fill: #333 }"
    " .title { font-size: 16px; font-weight: 600; fill: #111 }"
    " .long { font-size: 12px }"
    " .grid { stroke: #e4e4e4 }"
    " .axis { stroke: #666 }"
    " .curve { fill: none; stroke: #2563a8; stroke-width: 2; stroke-linejoin: round }";

std::string cut(const std::string& title) {
  return title.size() <= kLongestTitle ? title : title.substr(0, kLongestTitle - 3) + "...";
}

class Picture {
 public:
  Picture(const Axis& x, const Axis& y) : x_(x), y_(y) {}

  double across(double x) const {
    return kLeft + (x - x_.least) / (x_.most - x_.least) * (kRight - kLeft);
  }
  double down(double y) const {
    return kBottom - (y - y_.least) / (y_.most - y_.least) * (kBottom - kTop);
  }

  void line(const char* kind, double x1, double y1, double x2, double y2) {
    out_ += fmt::format(
        "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kind, x1,
        y1, x2, y2);
  }
  void text(double x, double y, const char* anchor, std::string_view words, const char* more = "") {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                        anchor, more, html_text(words));
  }
  void curve(const std::vector<LinePlot::Point>& points) {
    out_ += "<polyline class=\"curve\" points=\"";
    for (const auto& point : points) {
      out_ += fmt::format("{:.2f},{:.2f} ", across(point.x), down(point.y));
    }
    out_.back() = '"';
    out_ += "/>\n";
  }
  const std::string& elements() const { return out_; }

 private:
  Axis x_, y_;
  std::string out_;
};

}  // namespace

std::string svg_of(const LinePlot& plot) {
  double highest = 0;
  for (const auto& point : plot.points) highest = std::max(highest, point.y);
  const Axis x = axis_of(plot.points.front().x, plot.points.back().x, 8, false);
  const Axis y = axis_of(0, highest, 6, true);
  Picture picture(x, y);

  for (const double tick : x.ticks) {
    const double at = picture.across(tick);
    picture.line("grid", at, kTop, at, kBottom);
    picture.line("axis", at, kBottom, at, kBottom + 5);
    picture.text(at, kBottom + 21, "middle", fmt::format("{:.10g}", tick));
  }
  for (const double tick : y.ticks) {
    const double at = picture.down(tick);
    picture.line("grid", kLeft, at, kRight, at);
    picture.line("axis", kLeft - 5, at, kLeft, at);
    picture.text(kLeft - 10, at + 4.5, "end", fmt::format("{:.6g}", tick));
  }
  picture.line("axis", kLeft, kBottom, kRight, kBottom);
  picture.line("axis", kLeft, kTop, kLeft, kBottom);
  picture.curve(plot.points);
  picture.text(kWidth / 2, 34, "middle", cut(plot.title),
               plot.title.size() > kLongTitle ? " class=\"title long\"" : " class=\"title\"");
  picture.text((kLeft + kRight) / 2, kBottom + 47, "middle", plot.x_label);
  picture.text(kLeft - 8, kTop - 12, "end", plot.y_label);

  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n<style>{3}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{4}</svg>\n",
      kWidth, kHeight, html_text(plot.title), kStyle, picture.elements());
}

}  // namespace bcos::lab
