#include "lab/theory/curves.hpp"

#include <algorithm>
#include <cmath>

namespace bcos::lab::theory {
namespace {

using Mark = lab::plot::Figure::Mark;

lab::plot::Figure::Series series(const std::string& label, Mark mark,
                                 std::span<const std::uint64_t> times) {
  lab::plot::Figure::Series made;
  made.label = label;
  made.mark = mark;
  for (const std::uint64_t t : times) made.x.push_back(static_cast<double>(t));
  return made;
}

}  // namespace

std::vector<std::uint64_t> even_log_times(std::uint64_t last, std::size_t count) {
  std::vector<std::uint64_t> times;
  const double most = std::log(static_cast<double>(last));
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count - 1);
    const auto t = static_cast<std::uint64_t>(std::llround(std::exp(share * most)));
    if (times.empty() || t > times.back()) times.push_back(t);
  }
  return times;
}

void add_course(lab::plot::Figure& figure, const std::string& label, const Course& course,
                std::span<const std::uint64_t> times, const Scaled& scaled) {
  auto band = series(label, Mark::band, times);
  auto line = series(label, Mark::line, times);
  for (const std::uint64_t t : times) {
    const auto [mean, se] = course[t];
    band.y.push_back(scaled(t) * (mean - 2 * se));
    band.y2.push_back(scaled(t) * (mean + 2 * se));
    line.y.push_back(scaled(t) * mean);
  }
  figure.series.push_back(std::move(band));
  figure.series.push_back(std::move(line));
}

void add_bound(lab::plot::Figure& figure, const std::string& label, ConstSpan bound,
               std::span<const std::uint64_t> times, const Scaled& scaled) {
  auto dashed = series(label, Mark::dashed, times);
  for (const std::uint64_t t : times) dashed.y.push_back(scaled(t) * bound[t]);
  figure.series.push_back(std::move(dashed));
}

void add_level(lab::plot::Figure& figure, const std::string& label, double level,
               std::span<const std::uint64_t> times) {
  auto dashed = series(label, Mark::dashed, times);
  dashed.y.assign(times.size(), level);
  figure.series.push_back(std::move(dashed));
}

}  // namespace bcos::lab::theory
