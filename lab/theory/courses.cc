#include "lab/theory/courses.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "lab/theory/formulas.hpp"

namespace bcos::lab::theory {
namespace {

std::vector<std::uint64_t> every_time(std::uint64_t steps) {
  std::vector<std::uint64_t> times(steps + 1);
  std::iota(times.begin(), times.end(), std::uint64_t{0});
  return times;
}

/// The t with the largest difference in standard errors; t = 0 is given, not measured.
template <class Difference>
std::size_t worst_time(const Course& course, ConstSpan expected, const Difference& difference) {
  std::size_t worst = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t t = 1; t < course.size(); ++t) {
    const double unit = course[t].se + 1e-12 * (1 + std::abs(expected[t]));
    const double now = difference(course[t].value - expected[t]) / unit;
    // A mean that is not a number is worse than any other.
    if (now > most || std::isnan(now)) {
      worst = t;
      if (std::isnan(now)) break;
      most = now;
    }
  }
  return worst;
}

}  // namespace

Course course_of(const Simulation& simulation, const std::function<double(ConstSpan x)>& f) {
  // A row of sums for every group of replicates, found by the group's first one.
  std::vector<std::vector<numbers::Moments>> rows(simulation.replicates);
  simulate(simulation, [&](const Moment& now) {
    std::vector<numbers::Moments>& row = rows[now.first];
    if (now.t == 0) row.resize(simulation.steps + 1);
    for (std::size_t i = 0; i < now.count; ++i) row[now.t].add(f(now.x(i)));
  });
  Course course;
  course.reserve(simulation.steps + 1);
  for (std::size_t t = 0; t <= simulation.steps; ++t) {
    numbers::Moments all;
    for (const auto& row : rows) {
      if (!row.empty()) all.add(row[t]);
    }
    course.push_back(all.mean());
  }
  return course;
}

Course distance_course(const Aimed& aimed, const Stepsizes& stepsizes, std::uint64_t steps,
                       std::uint64_t replicates, std::uint64_t key) {
  const Simulation simulation{.problem = *aimed.problem,
                              .method = conceptual(aimed.lambda),
                              .stepsizes = stepsizes,
                              .steps = steps,
                              .replicates = replicates,
                              .key = key};
  return course_of(simulation, [&](ConstSpan x) { return squared_distance(x, aimed.target); });
}

Vector bound_course(const Aimed& aimed, const Stepsizes& stepsizes, std::uint64_t steps) {
  return bound_recursion(stepsizes, aimed.lambda, aimed.b_star, aimed.d0, every_time(steps));
}

Vector linear_course(const Stepsizes& stepsizes, ConstSpan kappa, ConstSpan nu, ConstSpan e0,
                     std::uint64_t steps) {
  const auto times = every_time(steps);
  Vector sum(times.size(), 0.0);
  for (std::size_t k = 0; k < kappa.size(); ++k) {
    const Vector one = bound_recursion(stepsizes, kappa[k], nu[k], e0[k] * e0[k], times);
    for (std::size_t t = 0; t < sum.size(); ++t) sum[t] += one[t];
  }
  return sum;
}

Check& within(Findings& findings, const std::string& what, const Course& course, ConstSpan bound) {
  const std::size_t t = worst_time(course, bound, [](double over) { return over; });
  Check& check = findings.at_most(fmt::format("{}, worst t = {}", what, t), course[t], bound[t]);
  check.among = course.size() - 1;
  return check;
}

Check& equals(Findings& findings, const std::string& what, const Course& course, ConstSpan exact) {
  const std::size_t t = worst_time(course, exact, [](double off) { return std::abs(off); });
  Check& check = findings.equal(fmt::format("{}, worst t = {}", what, t), course[t], exact[t]);
  check.among = course.size() - 1;
  return check;
}

}  // namespace bcos::lab::theory
