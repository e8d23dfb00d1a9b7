#include "lab/theory/courses.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lab/theory/curves.hpp"
#include "lab/theory/problems/quadratic.hpp"
#include "lab/theory/windows.hpp"

namespace bcos::lab::theory {
namespace {

Simulation small(const Problem& problem) {
  return {.problem = problem,
          .method = conceptual(0.5),
          .stepsizes = {1, 0.75},
          .steps = 32,
          .replicates = 150,
          .key = key_of("courses_test")};
}

double first_coordinate(ConstSpan x) { return x[0]; }

TEST(Courses, HaveTheMeansAtEveryStep) {
  const Quadratic problem;
  const Simulation simulation = small(problem);
  const Course course = course_of(simulation, first_coordinate);
  ASSERT_EQ(course.size(), 33U);
  const std::uint64_t times[] = {0, 1, 7, 32};
  const auto means = means_at(simulation, times, first_coordinate);
  for (std::size_t i = 0; i < means.size(); ++i) {
    EXPECT_NEAR(course[times[i]].value, means[i].value, 1e-13);
    EXPECT_NEAR(course[times[i]].se, means[i].se, 1e-7);
  }
}

TEST(Courses, AreJudgedAtTheirWorstStep) {
  const Course course = {{5, 0}, {1, 0.1}, {2, 0.1}, {1, 0.1}};
  Findings findings;
  within(findings, "below", course, Vector{5, 1.2, 1.5, 1.2});
  equals(findings, "equal", course, Vector{5, 0.2, 2, 1});
  EXPECT_EQ(findings.checks()[0].what, "below, worst t = 2");
  EXPECT_EQ(findings.checks()[0].predicted, 1.5);
  EXPECT_EQ(findings.checks()[1].what, "equal, worst t = 1");
  // Each stands for the comparisons at all three steps.
  EXPECT_EQ(findings.checks()[0].among, 3U);
  EXPECT_EQ(findings.checks()[1].among, 3U);
  EXPECT_FALSE(findings.checks()[0].holds(4.5));
  EXPECT_FALSE(findings.checks()[1].holds(4.5));
}

TEST(Courses, ThatAreNotNumbersFail) {
  const Course course = {{5, 0}, {1, 0.1}, {std::nan(""), 0.1}, {1, 0.1}};
  Findings findings;
  within(findings, "below", course, Vector(4, 100.0));
  EXPECT_FALSE(findings.pass());
}

TEST(LinearCourses, AddTheCoordinates) {
  const Vector course = linear_course({0.5, 0}, Vector{1, 2}, Vector{4, 8}, Vector{3, -1}, 2);
  // 0.25 * 9 + 0.25 * 4 = 3.25, 0 * 1 + 0.25 * 8 = 2; 0.25 * 3.25 + 1 = 1.8125, 2.
  EXPECT_EQ(course, (Vector{10, 5.25, 3.8125}));
}

TEST(Windows, HoldTheLargestDistanceOfEachDoubling) {
  const Quadratic problem;
  Simulation simulation = small(problem);
  simulation.replicates = 3;
  const Vector target = *problem.target(0.5);
  std::vector<Vector> distances(3);
  simulate(simulation, [&](const Moment& now) {
    for (std::size_t i = 0; i < now.count; ++i) {
      distances[i].push_back(squared_distance(now.x(i), target));
    }
  });
  const Windows windows = watch_windows(simulation, target, 2, 5);
  ASSERT_EQ(windows.count(), 3U);
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t j = 0; j < 3; ++j) {
      const auto begin = distances[r].begin() + (4 << j);
      EXPECT_EQ(windows.most[r][j], *std::max_element(begin, begin + (4 << j)));
      double sum = 0;
      for (std::uint64_t t = 4 << j; t < std::uint64_t{8} << j; ++t) {
        sum += simulation.stepsizes.at(t) * distances[r][t];
      }
      EXPECT_NEAR(windows.weighted_sum[r][j], sum, 1e-14);
    }
  }
}

TEST(Windows, HaveTheSlopeOfTheirLogarithms) {
  const Vector slopes = window_slopes({{8, 4, 2, 1}, {1, 8, 64}});
  EXPECT_NEAR(slopes[0], -1, 1e-14);
  EXPECT_NEAR(slopes[1], 3, 1e-14);
}

TEST(Curves, AreDrawnAtFewTimes) {
  const auto times = even_log_times(100000);
  EXPECT_EQ(times.front(), 1U);
  EXPECT_EQ(times.back(), 100000U);
  EXPECT_LE(times.size(), 120U);
  EXPECT_TRUE(std::ranges::is_sorted(times));
  EXPECT_EQ(even_log_times(1), std::vector<std::uint64_t>{1});
}

}  // namespace
}  // namespace bcos::lab::theory
