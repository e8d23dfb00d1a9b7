#include "lab/plot/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace bcos::lab::plot {
namespace {

using Scale = Figure::Scale;

constexpr double kLeastOnLog = std::numeric_limits<double>::min();  // what is below is rounded to 0

/// The least of 1, 2, 5, 10, 20, ... that is not below `step`, also for small numbers.
double round_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

/// Two ends too near to tell apart are moved away from each other.
void part_ends(double& least, double& most) {
  const double size = std::max(std::abs(least), std::abs(most));
  if (most / 2 - least / 2 > std::max(1e-12 * size, 1e-290)) return;
  const double room = size > 1e-290 ? size / 2 : 0.5;
  if (size > 1e-290) least -= room;
  most = least + 2 * room;
}

std::string power_of_ten(int exponent) {
  constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char c : fmt::format("{}", std::abs(exponent))) text += kDigits[c - '0'];
  return text;
}

int exponent_of(double value) {
  return static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9));
}

/// 10⁻³, and 2·10⁻³ where ticks are not only powers of ten.
std::string log_label(double value) {
  const int exponent = exponent_of(value);
  const double factor = value / std::pow(10.0, exponent);
  if (std::abs(factor - 1) < 1e-9) return power_of_ten(exponent);
  return fmt::format("{:.6g}·{}", factor, power_of_ten(exponent));
}

std::vector<double> factors_between(const Axis& axis, std::initializer_list<double> factors) {
  std::vector<double> values;
  const double first = std::floor(std::log10(axis.least));
  for (double exponent = first; std::pow(10.0, exponent) <= axis.most; ++exponent) {
    for (const double factor : factors) {
      const double value = factor * std::pow(10.0, exponent);
      if (value >= axis.least * (1 - 1e-9) && value / (1 + 1e-9) <= axis.most) {
        values.push_back(value);
      }
    }
  }
  return values;
}

}  // namespace

bool Axis::has(double value) const {
  return std::isfinite(value) && (scale == Scale::linear || value >= kLeastOnLog);
}

double Axis::part(double value) const {
  if (scale == Scale::log) {
    return (std::log(value) - std::log(least)) / (std::log(most) - std::log(least));
  }
  return (value / 2 - least / 2) / (most / 2 - least / 2);  // halves: their difference is finite
}

Axis axis_of(double least, double most, int about_ticks, bool rounded) {
  part_ends(least, most);
  Axis axis{least, most, {}};
  const double step = round_step(most / about_ticks - least / about_ticks);
  // 0 to 99999 ends at its tick of 100000.
  const double next = std::ceil(most / step * (1 - 1e-9)) * step;
  if ((rounded || next <= most + 0.01 * (most - least)) && std::isfinite(next)) {
    axis.most = std::max(most, next);
  }
  const double before = std::floor(least / step * (1 + 1e-9)) * step;
  if (rounded && std::isfinite(before)) axis.least = std::min(least, before);
  // Multiples, not sums: no rounding errors pile up in the labels.
  const double first = std::ceil(axis.least / step - 1e-6);
  for (double i = first; i * step - axis.most <= step * 1e-6; ++i) {
    axis.ticks.push_back(i * step + 0.0);  // no -0
  }
  return axis;
}

Axis log_axis_of(double least, double most, int most_ticks) {
  constexpr double kMost = std::numeric_limits<double>::max();
  if (std::log10(most) - std::log10(least) < 1e-6) {
    least /= 3;
    most *= 3;
  }
  least = std::max(least, kLeastOnLog);
  most = std::min(most, kMost);
  Axis axis{least, most, {}, Scale::log};
  const double decades = std::log10(most) - std::log10(least);
  axis.ticks = factors_between(axis, {1});
  if (axis.ticks.size() >= 3) {
    if (decades <= 6) axis.small_ticks = factors_between(axis, {2, 3, 4, 5, 6, 7, 8, 9});
    const auto every = static_cast<int>(
        std::ceil(static_cast<double>(axis.ticks.size()) / std::max(most_ticks, 1)));
    std::erase_if(axis.ticks, [&](double tick) {
      return static_cast<int>(std::lround(std::log10(tick))) % every != 0;
    });
    return axis;
  }
  axis.ticks = factors_between(axis, {1, 2, 5});
  if (axis.ticks.size() >= 3) return axis;
  axis.ticks = axis_of(least, most, 5, false).ticks;
  std::erase_if(axis.ticks, [&](double tick) { return tick < least || tick > most; });
  if (axis.ticks.size() < 2) axis.ticks = {least, most};
  return axis;
}

std::vector<std::string> tick_labels(const Axis& axis) {
  double largest = 0;
  bool plain = true;
  for (const double tick : axis.ticks) {
    const double size = std::abs(tick);
    largest = std::max(largest, size);
    if (axis.scale == Scale::log) {
      plain = plain && size > 0.99e-3 && size < 1.01e4;
    } else {
      plain = plain && (size == 0 || (size > 0.99e-4 && size < 1e7));
    }
  }
  const int exponent = largest > 0 ? exponent_of(largest) : 0;
  std::vector<std::string> labels;
  for (const double tick : axis.ticks) {
    if (plain || tick == 0) {
      labels.push_back(fmt::format("{:.10g}", tick));
    } else if (axis.scale == Scale::log) {
      labels.push_back(log_label(tick));
    } else {
      labels.push_back(
          fmt::format("{:.6g}·{}", tick / std::pow(10.0, exponent), power_of_ten(exponent)));
    }
  }
  return labels;
}

}  // namespace bcos::lab::plot
