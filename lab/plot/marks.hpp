#pragma once

#include <string>
#include <vector>

#include "lab/plot/axes.hpp"
#include "lab/plot/figure.hpp"

/// The series of a figure as elements of an SVG.
namespace bcos::lab::plot {

/// Where numbers are on the picture.
struct Frame {
  Axis x;
  Axis y;
  double left = 0;
  double right = 0;
  double top = 0;
  double bottom = 0;

  bool has(double at_x, double at_y) const { return x.has(at_x) && y.has(at_y); }
  double across(double at) const { return left + x.part(at) * (right - left); }
  double down(double at) const { return bottom - y.part(at) * (bottom - top); }
};

/// How all series of a label are told from the others, without colour too.
struct Look {
  std::string label;
  std::vector<Figure::Mark> marks = {};  ///< the kinds of its series, each once
  std::string colour = {};               ///< a class of figure.css
  int shape = 0;                         ///< of its points
  int dash = 0;                          ///< of its dashed lines
  bool dotted = false;                   ///< its lines carry a few points
};

/// One for every label, in the order in which they come. Series without a label are grey beside
/// others.
std::vector<Look> looks_of(const Figure& figure);

std::string marks_of(const Figure::Series& series, const Look& look, const Frame& frame);

/// A small picture of the look for the legend, 28 wide, its middle at (x + 14, y).
std::string swatch_of(const Look& look, double x, double y);

}  // namespace bcos::lab::plot
