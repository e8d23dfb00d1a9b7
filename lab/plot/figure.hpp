#pragma once

#include <string>
#include <vector>

namespace bcos::lab::plot {

/// A picture with axes: what it shows, not how it is drawn.
struct Figure {
  enum class Scale { linear, log };
  enum class Mark {
    line,
    dashed,  ///< bounds and predictions
    points,
    band,    ///< between y and y2
    arrows,  ///< from (x, y) by (dx, dy)
  };
  struct Series {
    std::string label;  ///< empty: not in the legend
    Mark mark = Mark::line;
    std::vector<double> x;
    std::vector<double> y;
    std::vector<double> y2 = {};  ///< band alone
    std::vector<double> dx = {};  ///< arrows alone
    std::vector<double> dy = {};
  };
  struct Axis {
    std::string label;
    Scale scale = Scale::linear;
    bool from_zero = false;  ///< begins at 0 however far the points are; linear axes alone
  };

  std::string title;
  std::string caption;  ///< a sentence that says what to see in it
  Axis x;
  Axis y;
  std::vector<Series> series;
};

/// An SVG document that needs nothing else. Points that are not finite, or not positive on a
/// logarithmic axis, are left out. Series of one label have one colour.
std::string svg_of(const Figure& figure);

/// The same as an element of a page that has figure_css() of lab/report/assets.hpp.
std::string inline_svg_of(const Figure& figure);

}  // namespace bcos::lab::plot
