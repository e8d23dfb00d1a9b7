#pragma once

#include <string>
#include <vector>

#include "lab/plot/figure.hpp"

namespace bcos::lab::plot {

/// An axis with round numbers to mark.
struct Axis {
  double least = 0;
  double most = 1;
  std::vector<double> ticks = {};  ///< with a label
  Figure::Scale scale = Figure::Scale::linear;
  std::vector<double> small_ticks = {};  ///< without

  /// Whether a number has a place on axes of this scale.
  bool has(double value) const;
  /// 0 at `least`, 1 at `most`.
  double part(double value) const;
};

/// From `least` to at least `most`; `rounded`: both ends are ticks.
Axis axis_of(double least, double most, int about_ticks, bool rounded);

/// Decades, or 1, 2 and 5 of them where there are few. The axis has both ends.
Axis log_axis_of(double least, double most, int most_ticks);

/// The labels of all ticks, in one way of writing: 0.001 or 10⁻³ or 0.5·10⁻³.
std::vector<std::string> tick_labels(const Axis& axis);

}  // namespace bcos::lab::plot
