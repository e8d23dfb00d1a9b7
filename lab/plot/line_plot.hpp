#pragma once

#include <string>
#include <vector>

#include "lab/cli/output.hpp"
#include "lab/plot/figure.hpp"

namespace bcos::lab::plot {

/// One curve over steps; y >= 0, and its axis begins at 0.
struct LinePlot {
  struct Point {
    double x = 0;
    double y = 0;
  };
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<Point> points;  ///< by increasing x, at least one
};

/// The same as a picture to be drawn.
Figure figure_of(const LinePlot& plot);

/// Lines of text no wider than the terminal; braille dots where it has Unicode, else stars.
std::string text_of(const LinePlot& plot, const cli::Terminal& where);

}  // namespace bcos::lab::plot
