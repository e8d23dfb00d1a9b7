#include "lab/plot/thin.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bcos::lab::plot {
namespace {

void keep(Curve& into, const Curve& from, std::size_t index) {
  into.steps.push_back(from.steps[index]);
  into.values.push_back(from.values[index]);
}

/// Where piece number `piece` of `pieces` begins in [begin, end).
std::size_t cut(std::size_t begin, std::size_t end, std::size_t piece, std::size_t pieces) {
  // Two steps, for a product of the sizes of a hostile file would overflow.
  const std::size_t count = end - begin;
  return begin + count / pieces * piece + count % pieces * piece / pieces;
}

void keep_extremes(Curve& into, const Curve& from, std::size_t begin, std::size_t end) {
  std::size_t least = end;
  std::size_t most = end;
  for (std::size_t i = begin; i < end; ++i) {
    if (!std::isfinite(from.values[i])) continue;
    if (least == end || from.values[i] < from.values[least]) least = i;
    if (most == end || from.values[i] > from.values[most]) most = i;
  }
  if (least == end) {
    keep(into, from, begin);  // a gap stays a gap
    return;
  }
  keep(into, from, std::min(least, most));
  if (least != most) keep(into, from, std::max(least, most));
}

}  // namespace

Curve thin(const Curve& curve, std::size_t limit) {
  const std::size_t count = curve.steps.size();
  if (count <= limit) return curve;
  const std::size_t pieces = (limit - 2) / 2;
  Curve result;
  keep(result, curve, 0);
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    keep_extremes(result, curve, cut(1, count - 1, piece, pieces),
                  cut(1, count - 1, piece + 1, pieces));
  }
  keep(result, curve, count - 1);
  return result;
}

Curve piece_means(const Curve& curve, std::size_t limit) {
  const std::size_t count = curve.steps.size();
  if (count <= limit) return curve;
  Curve result;
  for (std::size_t piece = 0; piece < limit; ++piece) {
    const std::size_t begin = cut(0, count, piece, limit);
    const std::size_t end = cut(0, count, piece + 1, limit);
    double sum = 0;
    std::size_t finite = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (!std::isfinite(curve.values[i])) continue;
      sum += curve.values[i];
      ++finite;
    }
    result.steps.push_back(curve.steps[begin + (end - begin) / 2]);
    result.values.push_back(finite > 0 ? sum / static_cast<double>(finite)
                                       : std::numeric_limits<double>::quiet_NaN());
  }
  return result;
}

}  // namespace bcos::lab::plot
