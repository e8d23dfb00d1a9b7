#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/plot/figure.hpp"
#include "lab/theory/courses.hpp"

/// Series of figures over t, at few enough times to draw.
namespace bcos::lab::theory {

/// At most `count` times from 1 to last, evenly apart on a logarithmic axis.
std::vector<std::uint64_t> even_log_times(std::uint64_t last, std::size_t count = 120);

/// Times a factor of t, as (t+1) E|x_t - x_*|^2.
using Scaled = std::function<double(std::uint64_t t)>;
inline double as_is(std::uint64_t /*t*/) { return 1; }

/// The mean, and two standard errors to either side of it, of one colour.
void add_course(lab::plot::Figure& figure, const std::string& label, const Course& course,
                std::span<const std::uint64_t> times, const Scaled& scaled = as_is);
/// A bound or prediction, dashed.
void add_bound(lab::plot::Figure& figure, const std::string& label, ConstSpan bound,
               std::span<const std::uint64_t> times, const Scaled& scaled = as_is);
/// A value that does not depend on t, dashed.
void add_level(lab::plot::Figure& figure, const std::string& label, double level,
               std::span<const std::uint64_t> times);

}  // namespace bcos::lab::theory
