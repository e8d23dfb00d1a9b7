#include "lab/plot/line_plot.hpp"

#include <algorithm>
#include <cmath>

#include "lab/cli/table.hpp"

namespace bcos::lab::plot {
namespace {

constexpr int kRows = 12;
constexpr int kMostColumns = 72;

/// Dots in character cells: 2 x 4 to a braille character, else one.
class Canvas {
 public:
  Canvas(int columns, int rows, bool braille)
      : across_(braille ? 2 : 1),
        down_(braille ? 4 : 1),
        columns_(columns),
        cells_(static_cast<std::size_t>(columns * rows), 0) {}

  int width() const { return columns_ * across_; }
  int height() const { return static_cast<int>(cells_.size()) / columns_ * down_; }

  void dot(int x, int y) {
    // Bits of the dots of U+2800 by row and column.
    constexpr unsigned char kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    cells_[cell(x / across_, y / down_)] |= kBits[y % down_][x % across_];
  }

  std::string row(int index) const {
    std::string text;
    for (int column = 0; column < columns_; ++column) {
      const unsigned bits = cells_[cell(column, index)];
      if (bits == 0) {
        text += ' ';
      } else if (down_ == 1) {
        text += '*';
      } else {  // U+2800 + bits in UTF-8
        text += '\xE2';
        text += static_cast<char>(0xA0 | bits >> 6);
        text += static_cast<char>(0x80 | (bits & 0x3F));
      }
    }
    return text;
  }

 private:
  std::size_t cell(int column, int row) const {
    const auto wide = static_cast<std::size_t>(columns_);
    return static_cast<std::size_t>(row) * wide + static_cast<std::size_t>(column);
  }

  int across_, down_, columns_;
  std::vector<unsigned char> cells_;
};

void draw(Canvas& canvas, const LinePlot& plot, double highest) {
  const double first = plot.points.front().x;
  const double span = std::max(plot.points.back().x - first, 1.0);
  const auto place = [&](const LinePlot::Point& point) {
    return LinePlot::Point{(point.x - first) / span * (canvas.width() - 1),
                           (1 - point.y / highest) * (canvas.height() - 1)};
  };
  LinePlot::Point from = place(plot.points.front());
  for (const auto& point : plot.points) {
    const LinePlot::Point to = place(point);
    const double longest = std::max(std::abs(to.x - from.x), std::abs(to.y - from.y));
    const int dots = 1 + static_cast<int>(std::ceil(longest));
    for (int i = 0; i <= dots; ++i) {
      const double part = static_cast<double>(i) / dots;
      canvas.dot(static_cast<int>(std::lround(from.x + part * (to.x - from.x))),
                 static_cast<int>(std::lround(from.y + part * (to.y - from.y))));
    }
    from = to;
  }
}

}  // namespace

Figure figure_of(const LinePlot& plot) {
  Figure figure{.title = plot.title,
                .caption = "",
                .x = {.label = plot.x_label},
                .y = {.label = plot.y_label, .from_zero = true},
                .series = {{}}};
  for (const LinePlot::Point& point : plot.points) {
    figure.series[0].x.push_back(point.x);
    figure.series[0].y.push_back(point.y);
  }
  return figure;
}

std::string text_of(const LinePlot& plot, const cli::Terminal& where) {
  double highest = 0;
  for (const auto& point : plot.points) highest = std::max(highest, point.y);
  const std::string top = fmt::format("{:.4g}", highest);
  const std::size_t margin = top.size();
  if (highest == 0) highest = 1;

  const int columns = std::clamp(where.columns - static_cast<int>(margin) - 2, 10, kMostColumns);
  Canvas canvas(columns, kRows, where.unicode);
  draw(canvas, plot, highest);

  std::string out;
  for (int row = 0; row < kRows; ++row) {
    const std::string label = row == 0 ? top : row + 1 == kRows ? "0" : "";
    out += fmt::format("{:>{}} |{}\n", label, margin,
                       cli::coloured(canvas.row(row), cli::Colour::cyan, where));
  }
  const std::string left = fmt::format("{:.10g}", plot.points.front().x);
  const std::string right = fmt::format("{:.10g}", plot.points.back().x);
  const int gap = columns + 1 - static_cast<int>(left.size() + right.size());
  out += fmt::format("{:>{}} +{:-<{}}\n", "", margin, "", columns);
  out += fmt::format("{:>{}} {}{:>{}}{}\n", "", margin, left, "", std::max(gap, 1), right);
  return out;
}

}  // namespace bcos::lab::plot
