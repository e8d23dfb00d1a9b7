#pragma once

#include <string>
#include <vector>

#include "lab/cli/output.hpp"

namespace bcos::lab {

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

/// An SVG document that needs nothing else.
std::string svg_of(const LinePlot& plot);

/// Lines of text no wider than the terminal; braille dots where it has Unicode, else stars.
std::string text_of(const LinePlot& plot, const Terminal& where);

/// An axis from `least` to at least `most`, with round numbers to mark.
struct Axis {
  double least = 0;
  double most = 1;
  std::vector<double> ticks;
};
Axis axis_of(double least, double most, int about_ticks, bool round_up);

}  // namespace bcos::lab
