#include <cmath>

#include "lab/commands/line_plot.hpp"

namespace bcos::lab {
namespace {

/// The least of 1, 2, 5, 10, 20, ... that is not below `step`, also for small numbers.
double round_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

Axis axis_of(double least, double most, int about_ticks, bool round_up) {
  if (!(most > least)) most = least + 1;
  Axis axis{least, most, {}};
  const double step = round_step((most - least) / about_ticks);
  if (round_up) axis.most = std::ceil(most / step * (1 - 1e-9)) * step;
  // 0 to 99999 ends at its tick of 100000.
  const double next = std::ceil(most / step) * step;
  if (next <= most + 0.01 * (most - least)) axis.most = next;
  // Multiples, not sums: no rounding errors pile up in the labels.
  const double first = std::ceil(least / step);
  for (double i = first; i * step <= axis.most + step * 1e-6; ++i) axis.ticks.push_back(i * step);
  return axis;
}

}  // namespace bcos::lab
