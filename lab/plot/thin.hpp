#pragma once

#include <cstdint>
#include <vector>

namespace bcos::lab::plot {

/// A curve to draw; a value that is not finite is a gap.
struct Curve {
  std::vector<std::int64_t> steps;
  std::vector<double> values;
};

/// At most `limit` (at least 4) points of a curve. First and last stay; between them the curve is
/// cut into equal pieces, and of each the least and the largest value stay, so that no spike is
/// lost.
Curve thin(const Curve& curve, std::size_t limit);

/// The mean of each of at most `limit` equal pieces, at their middle step; the curve itself if it
/// has no more points than that. Smoothing these does not lean to the extremes that thin() keeps.
Curve piece_means(const Curve& curve, std::size_t limit);

}  // namespace bcos::lab::plot
